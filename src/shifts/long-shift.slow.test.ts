import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openShift } from '#accounts/shift-rows.ts';
import { isRefusal } from '#core/answer.ts';
import { stampOrder } from '#db/commit-order.ts';
import { endShift, type ShiftReport } from '#shifts/end-shift.ts';
import { openStore, type TestStore } from '#testkit/fixtures/payments/store.ts';

const SALES = 5_000;
const END_MS = 1_000;

let store: TestStore;

before(async () => {
  store = await openStore({ maxConnections: 6 });
  const { accountId } = store.merchant.tenant;
  await store.db.query(
    `with sale as (
       select n, 'pay_' || lpad(n::text, 20, '0') as id, 'pi_' || lpad(n::text, 20, '0') as intent,
         jsonb_build_object('discount', 0, 'lineItems', jsonb_build_array(
           jsonb_build_object('name', 'Coffee ' || n % 40, 'quantity', 1, 'unit_amount', 380,
             'tax_rate', 1900, 'tax_inclusive', true, 'discount', 0),
           jsonb_build_object('name', 'Bread ' || n % 60, 'quantity', 2, 'unit_amount', 120,
             'tax_rate', 700, 'tax_inclusive', true, 'discount', 0))) as lines
       from generate_series(1, $1::int) n
     ), intent as (
       insert into payment_intents (id, account_id, livemode, position, created, amount,
         terminal_id, order_id, metadata, source, expires_at, status, attempt, payment_id, tx_hash)
       select intent, $2, false, n, now(), 6200000, $3, n::text, '{}', 'api', now(), 'succeeded',
         '{}', id, '0x01' from sale
     )
     insert into payments (id, account_id, livemode, position, created, payment_intent_id,
       terminal_id, payer_id, payer_address, order_id, method_type, credential_type, amount,
       fee_acquirer, fee_protocol, fee_cashback, chain_id, settlement_number, batch_number,
       tx_hash, block_number, log_index, settled_at, refundable_until, presentment, lines, taxes)
     select id, $2, false, n, now(), intent, $3, 'pyr_1', '0x' || repeat('aa', 20), n::text,
       'wallet_pass', 'nfc_id', 6200000, 3, 2, 1, 31337, n, 1, '0x' || repeat('01', 32), 1, 0,
       now(), now(), '{"currency": "eur", "amount": 620, "tipAmount": 0}', lines,
       '[{"rate": 700, "net": 224, "tax": 16, "gross": 240},
         {"rate": 1900, "net": 319, "tax": 61, "gross": 380}]'
     from sale`,
    [SALES, accountId, store.terminalId],
  );
  await store.db.query(
    'update account_modes set position = $2, stamped_at = now() where account_id = $1',
    [accountId, SALES],
  );
});
after(() => store.close());

test('a shift of 5,000 sales ends within a second, and locks no taps out', async () => {
  const { terminalId, merchant, ctx, db, clock } = store;
  const { tenant } = merchant;
  const { accountId } = tenant;
  await db.transaction((tx) =>
    openShift(tx, { terminalId, accountId, personId: null, pinId: null, now: clock.now() }),
  );
  let isOver = false;
  let longestMs = 0;
  // Like a tap, locks the account's order for a short time.
  const taps = (async () => {
    while (!isOver) {
      const start = performance.now();
      await db.transaction((tx) => stampOrder(tx, tenant, clock.now(), 1));
      longestMs = Math.max(longestMs, performance.now() - start);
    }
  })();
  const start = performance.now();
  const request = { tenant, terminalId, idempotency: null, requestId: 'req_1', now: clock.now() };
  const answer = await endShift(ctx, request, async () => ({ subject: '', text: '' }));
  const tookMs = performance.now() - start;
  isOver = true;
  await taps;
  assert.ok(!isRefusal(answer));
  const { figures, items } = JSON.parse(answer.body) as ShiftReport;
  assert.deepEqual([figures[0]?.count, figures[0]?.sales], [SALES, SALES * 620]);
  assert.equal(items.length, 100);
  assert.ok(tookMs < END_MS, `${tookMs} ms`);
  // If the order were locked all the time, a tap would wait as long as the shift takes to end.
  assert.ok(longestMs < tookMs / 3, `a tap waited ${longestMs} of ${tookMs} ms`);
});
