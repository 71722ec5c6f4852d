import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { askForPayment } from '../../../web/testing/payer.ts';
import { addTestTerminal, paymentsOf, postAsMerchant } from '../../../web/testing/till.ts';
import { TRANSLATE } from '../../../web/testing/translation.ts';
import { type Hands, until } from './hands.ts';
import { type Journeys, openTill, ZONE } from './journey.ts';

/** Journeys of the till, and of payments without one. */

/** Longer than the longest pause within one read (`GAP_MS` in `keyboard-reader.ts`). */
const KEYS_PAUSE_MS = 400;

/** Allocates enough to make every engine collect garbage. */
const GARBAGE = `(() => {
  let kept = 0;
  for (let round = 0; round < 200; round++) kept += new Array(500_000).fill(round).length;
  return kept;
})()`;

/** Typed texts, and how the till must display them as amounts. */
const SUMS: readonly (readonly [string, RegExp])[] = [
  ['0,500', /Charge 0\.50 USDC/],
  ['1,500', /Write 1500 or 1\.50/],
  ['1.500', /Write 1500 or 1\.50/],
  ['12 5', /Enter an amount such as 2\.50/],
  ['1 500', /Charge 1,500\.00 USDC/],
  ['1000,000', /Write 1000000 or 1000\.00/],
  ['1.000,50', /Charge 1,000\.50 USDC/],
  ['2,5', /Charge 2\.50 USDC/],
];

/**
 * Returns the text that a reader with an American layout types on a computer with a German
 * keyboard.
 */
function typeUnderGerman(pass: string): string {
  const keys = [...pass].map((letter) => {
    const key = { y: 'z', z: 'y', Y: 'Z', Z: 'Y', _: '?' }[letter] ?? letter;
    const code = /\d/.test(letter) ? `Digit${letter}` : `Key${letter.toUpperCase()}`;
    return { key, shiftKey: /[A-Z_]/.test(letter), code: letter === '_' ? 'Minus' : code };
  });
  return `(() => {
    for (const key of [...${JSON.stringify(keys)}, { key: 'Enter', code: 'Enter' }]) {
      const event = { ...key, bubbles: true, cancelable: true };
      document.body.dispatchEvent(new KeyboardEvent('keydown', event));
    }
  })()`;
}

/**
 * A camera without a picture whose track ends on command. The track is a plain EventTarget, because
 * Firefox (153) calls the listeners of a real one only for events of the browser, not for those
 * that a script dispatches. The browser's own `ended` does reach them.
 */
const CAMERA = `(() => {
  const getUserMedia = async () => {
    const canvas = document.createElement('canvas');
    canvas.getContext('2d').fillRect(0, 0, 8, 8);
    const stream = canvas.captureStream(5);
    window.cameraTrack = Object.assign(new EventTarget(), { stop: () => {} });
    stream.getTracks = () => [window.cameraTrack];
    return stream;
  };
  Object.defineProperty(navigator, 'mediaDevices', { value: { getUserMedia } });
})()`;
const CAMERA_ENDS = `(() => {
  if (!document.querySelector('video')?.srcObject) return null;
  window.cameraTrack.dispatchEvent(new Event('ended'));
  return true;
})()`;

async function charge(hands: Hands, amount: string): Promise<void> {
  await hands.fill('Amount', amount);
  await hands.click('button', /^Charge/);
  await hands.sees(/Cancel payment/);
}

export const COUNTER_JOURNEYS: Journeys = {
  'a sale: Charge, a pass, Paid, and the next one': async (hands, ground) => {
    await openTill(hands, ground);
    for (const amount of ['2.50', '9.99']) {
      await hands.fill('Amount', amount);
      await hands.evaluate(GARBAGE);
      const before = Date.now();
      await hands.click('button', /^Charge/);
      await hands.sees(/Cancel payment/);
      const waited = Date.now() - before;
      assert.ok(waited < 6_000, `Charge took ${waited} ms: a request before it was not aborted`);
      await hands.choose('Test pass', 'ok');
      await hands.sees(/Paid/);
      await hands.click('button', /^New payment/);
    }
  },
  'on a translated page the button shows the sum that it charges': async (hands, ground) => {
    await openTill(hands, ground);
    await hands.evaluate(TRANSLATE.replace(/;$/, ''));
    await hands.fill('Amount', '2.22');
    await hands.sees(/Charge 2\.22/);
    await hands.fill('Amount', '9.99');
    await hands.sees(/Charge 9\.99/);
    await hands.click('button', /^Charge 9\.99/);
    await hands.choose('Test pass', 'ok');
    await hands.sees(/Paid/);
  },
  'a sum that is typed has one meaning, and the button shows it': async (hands, ground) => {
    const own = await openTill(hands, ground);
    for (const [typed, said] of SUMS) {
      await hands.fill('Amount', typed);
      await hands.sees(said);
    }
    await hands.click('button', /^Charge 2\.50/);
    await hands.choose('Test pass', 'ok');
    await hands.sees(/Paid/);
    const [payment] = await paymentsOf(ground.sandbox, own);
    assert.equal(payment?.amount, 2_500_000);
  },
  'a reader under another keyboard layout reads the pass, once': async (hands, ground) => {
    const own = await openTill(hands, ground);
    const read = () => hands.evaluate(typeUnderGerman(ground.sandbox.test.passes.ok ?? ''));
    await charge(hands, '2.50');
    // Before the service knows the payment, a read pass pays nothing.
    await hands.sees(/Test pass/);
    // Without a pause, the keys of the amount and of the pass would be one read.
    await sleep(KEYS_PAUSE_MS);
    await read();
    await hands.sees(/Paid/);
    await read();
    await hands.sees(/Already paid/);
    // Clicks without waiting, since the toast covers no button.
    await hands.click('button', /^New payment/);
    await hands.sees(/Charge/);
    assert.equal((await paymentsOf(ground.sandbox, own)).length, 1);
  },
  'a cancel while the customer confirms cancels': async (hands, ground) => {
    const own = await openTill(hands, ground);
    await charge(hands, '2.50');
    await hands.choose('Test pass', 'confirm');
    await hands.sees(/Waiting for the customer to confirm/);
    await hands.click('button', /^Cancel payment/);
    await hands.sees(/Canceled/);
    assert.equal((await paymentsOf(ground.sandbox, own)).length, 0);
  },
  'a pass that is declined says so, and nothing is charged': async (hands, ground) => {
    const own = await openTill(hands, ground);
    await charge(hands, '5');
    await hands.choose('Test pass', 'insufficient_funds');
    await hands.sees(/Declined/);
    const shown = await hands.evaluate<string>('document.body.innerText');
    assert.doesNotMatch(shown, /your wallet/, 'that is said to the customer');
    assert.equal((await paymentsOf(ground.sandbox, own)).length, 0);
  },
  'the times of a till are in the zone of the account, which is named': async (hands, ground) => {
    await openTill(hands, ground);
    await charge(hands, '2.50');
    await hands.choose('Test pass', 'ok');
    await hands.sees(/Paid/);
    await hands.click('button', /^New payment/);
    await hands.click('link', /^History/);
    await hands.sees(new RegExp(`Times are in ${ZONE}`));
  },
  'a camera that stops says so and starts again': async (hands, { sandbox }) => {
    await hands.goto(`${sandbox.web_url}/terminal`);
    await hands.evaluate(CAMERA);
    await hands.click('button', /^Scan the code/);
    await until('a picture', () => hands.evaluate<true | null>(CAMERA_ENDS));
    await hands.sees(/The camera stopped/);
    await hands.click('button', /^Try again/);
    await until('a picture again', () =>
      hands.evaluate<true | null>(`document.querySelector('video') === null ? null : true`),
    );
  },
  'a pay link says what is paid, and to whom': async (hands, { sandbox, terminal }) => {
    const { url } = await askForPayment(sandbox, terminal, { amount: 3_210_000 });
    await hands.goto(url);
    await hands.sees(/3\.21/);
    await hands.sees(/USDC/);
  },
  'a tag waits for the sum of its till': async (hands, { sandbox }) => {
    const own = await addTestTerminal(sandbox);
    await hands.goto(own.tagUrl);
    await postAsMerchant(sandbox, '/payment_intents', { amount: 1_230_000, terminal: own.id });
    await hands.sees(/1\.23/);
  },
};
