import assert from 'node:assert/strict';
import type { SandboxFile } from '../../src/sandbox/sandbox-file.ts';
import { addTestTerminal, type TestTerminal } from '../../web/testing/till.ts';
import { DeviceApi, readTap, runWithoutScreen, type TillEvent } from '../src/index.ts';
import { NO_WALLETS } from '../src/till-settings.ts';
import { WaitingTaps } from '../src/waiting-taps.ts';

/** A reader without a screen, at its own terminal. */
export interface Till {
  readonly api: DeviceApi;
  readonly terminal: TestTerminal;
  readonly events: TillEvent[];
  until(status: TillEvent['status']): Promise<TillEvent>;
  tap(card: Parameters<typeof readTap>[0]): Promise<void>;
  end(): Promise<void>;
}

/**
 * Creates the client.
 * @param first The key that was revoked when the pairing code was used.
 */
export type Make = (server: string, key: string, first: string) => DeviceApi;

const plain: Make = (server, key) => new DeviceApi(server, key);

/**
 * Starts a reader that was paired with a code. Not for every test, because the service limits
 * pairings per address.
 */
export async function pairedTill(sandbox: SandboxFile, make: Make = plain): Promise<Till> {
  const terminal = await addTestTerminal(sandbox, 'Reader of a test');
  const code = await terminal.pairingCode();
  const { key, terminal: paired } = await DeviceApi.pair(sandbox.web_url, code);
  assert.equal(paired, terminal.id);
  return start(terminal, make(sandbox.web_url, key, terminal.deviceKey));
}

/** Starts a reader with its terminal's first key. */
export async function startedTill(sandbox: SandboxFile, make: Make = plain): Promise<Till> {
  const terminal = await addTestTerminal(sandbox, 'Reader of a test');
  return start(terminal, make(sandbox.web_url, terminal.deviceKey, terminal.deviceKey));
}

function start(terminal: TestTerminal, api: DeviceApi): Till {
  const taps = new WaitingTaps();
  const end = new AbortController();
  const events: TillEvent[] = [];
  let read = 0;
  let wake = () => {};
  const running = runWithoutScreen({
    api,
    taps,
    signal: end.signal,
    onEvent: (event) => {
      events.push(event);
      wake();
    },
  });
  return {
    api,
    terminal,
    events,
    until: async (status) => {
      for (;;) {
        const event = events[read++];
        if (event?.status === status) return event;
        if (event !== undefined) continue;
        read--;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
    tap: async (card) => {
      taps.offer(await readTap(card, NO_WALLETS, (publicKey) => taps.toSign(publicKey)));
    },
    end: async () => {
      end.abort();
      await running;
    },
  };
}
