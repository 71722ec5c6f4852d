import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Abandon } from '#db/database.ts';
import { checkInvariants } from '#testing/invariants.ts';
import { openStore, type TestStore } from '#testing/store.ts';
import { addPayment } from '#testing/store-payments.ts';

/** What somebody breaks, and the promise that has to be named for it. */
const DAMAGES: readonly (readonly [string, RegExp])[] = [
  [`delete from payments`, /has a payment exactly when it has succeeded/],
  [`update payments set amount = amount + 1`, /has a payment exactly when it has succeeded/],
  [`update chain_requests set number = number + 1`, /asked of the chain once/],
  [
    `update payments set amount_reserved = 5, amount_refunded = 5`,
    /their sums are the sums of their rows/,
  ],
  [`update payers set limit_per_payment = 1`, /no payment is above the limit/],
  [`update payers set limit_per_day = 1`, /payments of a day stay below the limit/],
  [`update payers set blocked_at = '2020-01-01'`, /a blocked payer, a revoked pass/],
  [`update passes set revoked_at = '2020-01-01'`, /a blocked payer, a revoked pass/],
  [`delete from events where type = 'payment_intent.created'`, /each intent has one event/],
  [`delete from events where type = 'payment.succeeded'`, /each payment has one event/],
  [`update events set position = 7`, /places in the order of an account are unique/],
  [`update chain_requests set applied_at = null`, /has its outcome, and somebody has read it/],
  [
    `update idempotency_keys set status = 'in_progress', response_status = null,
       response_body = null`,
    /no idempotency key is left in progress/,
  ],
];

describe('the invariant checker', () => {
  let store: TestStore;

  before(async () => {
    store = await openStore();
    await addPayment(store);
  });

  after(() => store.close());

  it('finds nothing in a database that is well', async () => {
    assert.deepEqual(await checkInvariants(store.db, { atRest: true }), []);
  });

  for (const [damage, promise] of DAMAGES) {
    it(`finds: ${damage.replace(/\s+/g, ' ')}`, async () => {
      const broken = await store.db.transaction(async (tx) => {
        await tx.query(damage);
        return new Abandon(await checkInvariants(tx, { atRest: true }));
      });
      assert.match(broken.join('\n'), promise);
    });
  }
});
