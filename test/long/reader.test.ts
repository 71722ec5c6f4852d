import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import {
  openKey,
  PCSCD_SOCKET,
  type ReaderEvent,
  signingKey,
  watchReaders,
} from '../../reader/src/index.ts';
import { applePhone, bankCard, googlePhone, tag } from '../reader/emulated-phones.ts';
import { insertCard } from '../reader/virtual-card.ts';

/**
 * The reader on the real PC/SC service, with cards in a virtual reader. Needs Debian's packages
 * `pcscd` and `vsmartcard-vpcd`; without them the file says so.
 */
const PCSCD = '/usr/sbin/pcscd';
const VPCD_SETTINGS = '/etc/reader.conf.d/vpcd';
const VPCD_PORT = 0x8c7b;
const missing = !existsSync(PCSCD) || !existsSync(VPCD_SETTINGS);
const skip = missing && 'pcscd and vsmartcard-vpcd are not installed';

const collectorKey = signingKey(randomBytes(32));
const passKey = openKey(randomBytes(32));
const end = new AbortController();
const events: ReaderEvent[] = [];
let wake = () => {};
let watching: Promise<void>;

function startService() {
  const child = spawn(PCSCD, ['--foreground'], { stdio: 'ignore' });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const stop = async () => {
    child.kill();
    await ended;
  };
  return { stop };
}

let running: { stop(): Promise<void> } | null = null;

before(async () => {
  if (missing) return;
  await mkdir('/run/pcscd', { recursive: true });
  running = startService();
  const passType = { identifier: 'pass.com.example.wallet', key: passKey };
  const collector = { id: 7, keyVersion: 1, privateKey: collectorKey };
  watching = watchReaders({
    socket: PCSCD_SOCKET,
    wallets: () => ({ collector, passType }),
    signal: end.signal,
    onEvent: (event) => {
      events.push(event);
      wake();
    },
  });
  await until((event) => event.status === 'ready');
});

after(async () => {
  end.abort();
  await watching;
  await running?.stop();
});

async function until(wanted: (event: ReaderEvent) => boolean): Promise<ReaderEvent> {
  for (;;) {
    const event = events.shift();
    if (event !== undefined && wanted(event)) return event;
    if (event !== undefined) continue;
    await new Promise<void>((resolve) => {
      wake = resolve;
    });
  }
}

async function hold(card: Parameters<typeof insertCard>[1]) {
  const inserted = await insertCard(VPCD_PORT, card);
  const event = await until(({ status }) => status === 'tapped');
  inserted.remove();
  assert.ok(event.status === 'tapped');
  return event.tap;
}

test('phones and cards are read through the PC/SC service, one after the other', {
  skip,
}, async () => {
  const google = googlePhone({ collectorId: 7, collectorKey, value: 'redeem', portion: 60 });
  const apple = {
    passIdentifier: 'pass.com.example.wallet',
    passKey,
    message: 'm',
    at: new Date(),
  };
  for (const [card, type] of [
    [google.transceive, 'smart_tap'],
    [applePhone(apple), 'apple_vas'],
    [tag({ text: `nfc_${'a'.repeat(30)}` }), 'nfc_id'],
  ] as const) {
    const tap = await hold(card);
    assert.ok(tap.status === 'read' && tap.credential.type === type, JSON.stringify(tap.status));
  }
  assert.deepEqual(await hold(bankCard), { status: 'not_a_payment_card' });
});

test('a service that ends is waited for, and the next card is read', { skip }, async () => {
  await running?.stop();
  await until(({ status }) => status === 'no_reader');
  running = startService();
  await until(({ status }) => status === 'ready');
  const tap = await hold(tag({ text: `nfc_${'b'.repeat(30)}` }));
  assert.equal(tap.status, 'read');
});
