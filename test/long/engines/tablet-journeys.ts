import { setTimeout as sleep } from 'node:timers/promises';
import { encode } from 'uqr';
import type { PrivateKeyAccount } from 'viem/accounts';
import { setLimits } from '#testkit/apis/offline-sales.ts';
import { type Gateway, gatewayTo } from '../../../web/testing/gateway.ts';
import { fundedAccount } from '../../../web/testing/payer.ts';
import {
  addTestTerminal,
  intentsOf,
  paymentsOf,
  type TestTerminal,
} from '../../../web/testing/till.ts';
import { type Hands, until } from './hands.ts';
import { type Ground, type Journey, type Journeys, VALUE_OF } from './journey.ts';

/** Journeys of tablets: cameras, updates of an open page, sales without a network, and storage. */

const PAGES = '../../../web/testing';
/** Functions that run in a page. Loaded without types, because these tests have no `document`. */
const { installCamera } = await import(`${PAGES}/filming-camera.ts`);
const { faultyStorage } = await import(`${PAGES}/faulty-storage.ts`);
const { hasLaterBuild, hasTerms, signRequest } = await import(`${PAGES}/offline.ts`);

/** Of the same size as the other code, so that their corners look alike. */
const FOREIGN = 'https://shop.example.com/menu?table=12&lang=en&code=0123456789abcdef01234567';
/** Time after which a page that becomes visible checks for an update (`CHECKED_MS`). */
const CHECKED_MS = 61_000;

/**
 * Grants persistent storage, which browsers grant only to sites that are used often. Without
 * `estimate`, like Safari 16.
 */
export const PERSISTS = `(() => {
  const grant = async () => true;
  const storage = { persisted: grant, persist: grant };
  Object.defineProperty(navigator, 'storage', { value: storage });
  return true;
})()`;
/** A database that fails is opened again, which never answers. */
const STICK = `(() => {
  sessionStorage.setItem('isStuck', '1');
  globalThis.throwsLeft = 1;
  return true;
})()`;

/** JavaScript that adds a camera which films these texts as QR codes. */
function cameraScript(...texts: readonly string[]): string {
  const codes = texts.map((text) => encode(text, { ecc: 'M', border: 4 }).data);
  return `((${installCamera})(${JSON.stringify([codes, [1_280, 720]])}), true)`;
}

interface OfflineTill {
  readonly gateway: Gateway;
  readonly terminal: TestTerminal;
  readonly account: PrivateKeyAccount;
}

export const becomes = (hands: Hands, expression: string) =>
  until(expression, async () => ((await hands.evaluate<boolean>(expression)) ? true : null));

/** Waits until the till shows that it is offline. */
export const seesOutage = (hands: Hands) =>
  becomes(hands, `document.querySelector('[data-result="Offline"]') !== null`);

/** Opens a till that may sell offline, behind a network that the journey can cut. */
function offline(
  journey: (hands: Hands, till: OfflineTill, ground: Ground) => Promise<void>,
): Journey {
  return async (hands, ground) => {
    const { sandbox, db } = ground;
    const terminal = await addTestTerminal(sandbox);
    await setLimits({ store: { db, terminalId: terminal.id } });
    const account = await fundedAccount(sandbox, 10_000_000n);
    const gateway = await gatewayTo(sandbox.web_url);
    try {
      await hands.goto(`${gateway.url}/terminal#key=${terminal.deviceKey}`);
      await hands.sees(/Start shift/);
      await hands.evaluate(PERSISTS);
      await hands.evaluate(`((${faultyStorage})(), true)`);
      await hands.click('button', /^Start shift/);
      await hands.sees(/Charge/);
      await becomes(hands, `(${hasTerms})()`);
      // The app is stored, so that it loads its parts without a network.
      await becomes(hands, 'navigator.serviceWorker.controller !== null');
      await journey(hands, { gateway, terminal, account }, ground);
    } finally {
      await gateway.close();
    }
  };
}

async function sell(hands: Hands, { account }: OfflineTill): Promise<void> {
  await hands.fill('Amount', '2.00');
  await hands.click('button', /^Charge/);
  const request = await until('a request', () =>
    hands.evaluate<string | null>(VALUE_OF('Request')),
  );
  await hands.fill('Answer', await signRequest(account, request));
  await hands.click('button', /^Accept answer/);
  await hands.sees(/Accepted offline/);
}

async function forwards({ gateway, terminal }: OfflineTill, { sandbox }: Ground): Promise<void> {
  gateway.join();
  await until('one payment', async () =>
    (await paymentsOf(sandbox, terminal)).length === 1 ? true : null,
  );
}

export const TABLET_JOURNEYS: Journeys = {
  'our decoder reads the second of two codes in a picture': async (hands, { sandbox }) => {
    const terminal = await addTestTerminal(sandbox);
    await hands.goto(`${sandbox.web_url}/terminal`);
    const link = `${sandbox.web_url}/terminal#pair=${await terminal.pairingCode()}`;
    await hands.evaluate(cameraScript(FOREIGN, link));
    await hands.click('button', /^Scan the code/);
    await hands.sees(/Start shift/);
  },
  'an open till offers an update, and its parts load without a network': offline(
    async (hands, { gateway }) => {
      gateway.deploy();
      await sleep(CHECKED_MS);
      await hands.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`);
      await hands.sees(/There is a new version of the till/);
      await becomes(hands, `(${hasLaterBuild})()`);
      gateway.cut();
      await hands.click('link', /^Find a sale/);
      await hands.evaluate(cameraScript(`${gateway.url}/receipts/0123456789abcdefghijkl`));
      await hands.click('button', /^Scan/);
      await becomes(hands, `location.pathname.endsWith('find/0123456789abcdefghijkl')`);
    },
  ),
  'a storage that stops answering is shown, and no sale is lost': offline(
    async (hands, till, ground) => {
      till.gateway.cut();
      await seesOutage(hands);
      await hands.evaluate(STICK);
      await hands.fill('Amount', '3.00');
      await hands.click('button', /^Charge/);
      await hands.sees(/cannot sell offline/);
      await hands.evaluate(`(sessionStorage.removeItem('isStuck'), true)`);
      await becomes(hands, `!document.body.innerText.includes('It keeps trying')`);
      await sell(hands, till);
      await forwards(till, ground);
    },
  ),
  'a cart sold offline replaces the payment that was left open': offline(
    async (hands, till, ground) => {
      await hands.fill('Amount', '2.00');
      await hands.click('button', /^Charge/);
      await hands.sees(/Test pass/);
      till.gateway.cut();
      await seesOutage(hands);
      await hands.click('button', /^Cancel payment/);
      await hands.click('button', /^Sell offline instead/);
      await sell(hands, till);
      await forwards(till, ground);
      await until('the payment is canceled', async () => {
        const [intent] = (await intentsOf(ground.sandbox, till.terminal)).slice(-1);
        return intent?.status === 'canceled' ? true : null;
      });
    },
  ),
};
