// A till: type an amount, the customer taps, and the till prints the result. Node.js 20 or newer.
//
//   node examples/till.mjs
//   > 2.50
//
// In test mode, run `npx tapline tap` to simulate the customer, or type `tap` here.

import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { OutcomeUnknownError, Tapline, UsageError, usdc } from 'tapline';

const dataDir = process.env.TAPLINE_DATA_DIR ?? '.tapline';
const sandbox = JSON.parse(await readFile(`${dataDir}/sandbox.json`, 'utf8'));
const { secret_key: apiKey, terminal } = sandbox.test;
const tapline = new Tapline(apiKey, { baseUrl: sandbox.base_url });

const WORDS = {
  succeeded: ({ payment }) => `Paid. ${payment}`,
  canceled: ({ cancellation_reason: why }) => (why === 'expired' ? 'Nobody paid.' : 'Canceled.'),
};

/** Each sale has one key. After any failure, only that key is sent again. */
async function sell(amount) {
  const idempotencyKey = crypto.randomUUID();
  const create = () =>
    tapline.paymentIntents.create({ amount: usdc(amount), terminal }, { idempotencyKey });
  let intent;
  while (intent === undefined) {
    try {
      intent = await create();
    } catch (error) {
      if (!(error instanceof OutcomeUnknownError)) throw error;
      console.log('Checking… (do not charge again)');
    }
  }
  console.log(`${amount} USDC: tap, please.`);
  const ended = await tapline.paymentIntents.waitFor(intent.id, { timeout: 600_000 });
  console.log(WORDS[ended.status](ended));
}

let sale = Promise.resolve();
for await (const line of createInterface({ input: process.stdin })) {
  const word = line.trim();
  if (word === 'tap') {
    const { last_payment_error: declined } = await tapline.testHelpers.tap(terminal);
    if (declined !== null) console.log(`Declined: ${declined.message}`);
    continue;
  }
  await sale;
  sale = sell(word).catch((error) => {
    if (error instanceof UsageError) return console.log('An amount, please: 2.50');
    throw error;
  });
}
await sale;
