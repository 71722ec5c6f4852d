import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PHONE } from '../testing/browser.ts';
import {
  type Fault,
  holdRequests,
  loseAnswers,
  loseRequests,
  sleep,
} from '../testing/network-faults.ts';
import { sharedStage } from '../testing/stage.ts';
import {
  type Counter,
  intentsOf,
  newTill,
  paymentsOf,
  postAsMerchant,
  type TillWindow,
} from '../testing/till.ts';

const stage = sharedStage();

const CREATE = /device\/v1\/payment_intents$/;
const TAP = /\/tap$/;
const CANCEL = /\/cancel$/;
const INTENT = /device\/v1\/payment_intents\/pi_\w+(\?.*)?$/;
const AWAY_MS = 1_200;

type Interrupt = (till: TillWindow) => Promise<void>;

const INTERRUPTIONS: Readonly<Record<string, Interrupt>> = {
  'a reload': async ({ page }) => {
    await page.reload();
  },
  'a sleep': ({ page }) => sleep(page, AWAY_MS),
  'a loss of the network': async ({ page, context }) => {
    await context.setOffline(true);
    await page.getByText('Offline', { exact: true }).waitFor();
    await page.waitForTimeout(AWAY_MS);
    await context.setOffline(false);
  },
};

/**
 * A state in which the till is interrupted. `enter` brings the till into it and returns the fault
 * that blocks the payment, if there is one.
 */
interface State {
  readonly name: string;
  readonly enter: (tried: Counter) => Promise<Fault | null>;
  readonly goOn: (tried: Counter) => Promise<void>;
  /** The number of payments expected in the ledger at the end. */
  readonly paid: 0 | 1;
  /** The number of passes that are presented; by default at most one. */
  readonly taps?: number;
}

const tapWhenAsked = ({ till }: Counter) => till.pay();

async function enterChecking({ till }: Counter, fault: Promise<Fault>): Promise<Fault> {
  await till.ask('2.50');
  const lost = await fault;
  await till.testPass.selectOption('ok');
  await till.result('Checking…').waitFor();
  assert.equal(await till.charge.count(), 0, 'nothing can be charged');
  assert.equal(await till.cancel.count(), 0, 'nothing can be canceled');
  return lost;
}

async function startCharge(till: TillWindow, fault: Promise<Fault>): Promise<Fault> {
  await till.amount.fill('2.50');
  const held = await fault;
  await till.charge.click();
  await till.page.getByText('Starting the payment').waitFor();
  return held;
}

const STATES: readonly State[] = [
  {
    name: 'while a payment is being opened',
    enter: ({ till }) => startCharge(till, holdRequests(till.page, CREATE)),
    goOn: tapWhenAsked,
    paid: 1,
  },
  {
    name: 'after a payment was opened and the response was lost',
    enter: ({ till }) => startCharge(till, loseAnswers(till.page, CREATE)),
    goOn: tapWhenAsked,
    paid: 1,
  },
  {
    name: 'while the till waits for a pass',
    enter: async ({ till }) => {
      await till.ask('2.50');
      return null;
    },
    goOn: tapWhenAsked,
    paid: 1,
  },
  {
    name: 'after a tap whose request was lost',
    enter: (tried) => enterChecking(tried, loseRequests(tried.till.page, TAP)),
    goOn: ({ till }) => till.result('Paid').waitFor(),
    paid: 1,
  },
  {
    name: 'after a tap whose response was lost',
    enter: async (tried) => {
      // The till must learn the result from the repeated tap alone, so reads of the intent get no
      // response.
      const silent = await loseAnswers(tried.till.page, INTENT);
      const lost = await enterChecking(tried, loseAnswers(tried.till.page, TAP));
      return {
        met: lost.met,
        end: async () => {
          await lost.end();
          await tried.till.result('Paid').waitFor();
          await silent.end();
        },
      };
    },
    goOn: ({ till }) => till.result('Paid').waitFor(),
    paid: 1,
  },
  {
    name: 'while the customer is asked to confirm',
    enter: async ({ till }) => {
      await till.ask('2.50');
      await till.testPass.selectOption('confirm');
      await till.result('Waiting for the customer to confirm').waitFor();
      return null;
    },
    goOn: async ({ till, terminal }) => {
      await till.result('Waiting for the customer to confirm').waitFor();
      const [intent] = await intentsOf(stage().sandbox, terminal);
      const path = `/test_helpers/payment_intents/${intent?.id}/payer_confirm`;
      // Rejects, because after an approval no other test could make this payer confirm at this
      // merchant.
      await postAsMerchant(stage().sandbox, path, { approve: false });
      await till.result('Declined').waitFor();
      await till.pay();
    },
    taps: 2,
    paid: 1,
  },
  {
    name: 'while a payment is being canceled',
    enter: async ({ till }) => {
      await till.ask('2.50');
      const held = await holdRequests(till.page, CANCEL);
      await till.cancel.click();
      await till.page.getByText('Canceling').waitFor();
      return held;
    },
    goOn: ({ till }) => till.result('Canceled').waitFor(),
    paid: 0,
  },
  {
    name: 'while a result is shown',
    enter: async ({ till }) => {
      await till.sell('2.50');
      return null;
    },
    goOn: async ({ till }) => {
      await till.result('Paid').waitFor();
      await till.newPayment.click();
      await till.amount.waitFor();
    },
    paid: 1,
  },
];

/** Collects the idempotency keys of the taps that a till sent. */
function watchTaps({ page }: TillWindow): Set<string> {
  const keys = new Set<string>();
  page.on('request', (request) => {
    if (TAP.test(request.url())) keys.add(request.headers()['idempotency-key'] ?? 'none');
  });
  return keys;
}

async function interruptOnce(state: State, interrupt: Interrupt): Promise<void> {
  const tried = await newTill(stage(), PHONE);
  const { sandbox, till, terminal } = tried;
  const keys = watchTaps(till);
  const fault = await state.enter(tried);
  await interrupt(till);
  await fault?.end();
  await state.goOn(tried);
  const payments = await paymentsOf(sandbox, terminal);
  assert.equal(payments.length, state.paid, 'payments in the ledger');
  assert.ok(keys.size <= (state.taps ?? 1), `one key for each tap: ${[...keys]}`);
  const open = (await intentsOf(sandbox, terminal)).filter(
    ({ status }) => status !== 'succeeded' && status !== 'canceled',
  );
  assert.deepEqual(open, [], 'nothing is left open');
  await till.close();
}

for (const state of STATES) {
  for (const [name, interrupt] of Object.entries(INTERRUPTIONS)) {
    test(`${name} ${state.name} does not charge twice`, () => interruptOnce(state, interrupt));
  }
}
