import { randomBytes, randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { openPayout } from '#books/statement.ts';
import { newId } from '#core/ids.ts';
import { stampOrder } from '#db/commit-order.ts';
import { silentLog } from '#observability/log.ts';
import { applyWithdrawalOutcomes } from '#payouts/apply-withdrawals.ts';
import { savePayout } from '#payouts/automatic-payout-queries.ts';
import { withdrawals } from '#payouts/withdrawal-queries.ts';
import { requestOnChain } from '#settlement/chain-requests.ts';
import { addShiftReport } from '#testkit/apis/api-objects.ts';
import {
  addIntent,
  openSale,
  openStore,
  pay,
  playChain,
  type TestStore,
} from '#testkit/fixtures/payments/store.ts';
import { addPayment, refundNow } from '#testkit/fixtures/payments/store-payments.ts';
import { mintToken } from '#testkit/fixtures/payments/store-requests.ts';
import { addEndpoint, endpointsOf } from '#testkit/fixtures/webhooks/webhook-endpoints.ts';

/** A store with data for every invariant, all of which hold. */
export type HealthyStore = Awaited<ReturnType<typeof openHealthyStore>>;

const AMOUNT = 2_500_000;
const REFUNDED = 500_000;

export async function openHealthyStore() {
  const store = await openStore();
  const enabledEvents = ['payment.*', 'refund.*'];
  // Nothing listens at this address, because the test records the deliveries itself.
  const { endpoint } = await addEndpoint(endpointsOf(store), 'http://127.0.0.1:1024/', {
    enabledEvents,
  });
  // Waits, because an endpoint gets only events that are at least a millisecond newer than itself.
  await sleep(2);
  /** A partly refunded payment, made with a pass. */
  const payment = await addPayment(store, AMOUNT);
  await payWithToken(store);
  const refunded = await refundNow(store, { paymentId: payment.id, amount: REFUNDED });
  if (refunded.status !== 'succeeded') throw new Error(JSON.stringify(refunded));
  await withdraw(store);
  await addShiftReport(store.db, { tenant: store.merchant.tenant, terminal: store.terminalId });
  await addIntent(store);
  const accepted: ReadonlySet<string> = await deliverAll(store);
  return { ...store, payment, endpoint: { id: endpoint.id, accepted } };
}

async function payWithToken(store: TestStore): Promise<void> {
  const { intentId, payer } = await openSale(store, { amount: AMOUNT });
  const { token } = await mintToken(store, payer.id, AMOUNT);
  await pay(store, { intentId, token, hangUp: true });
  await playChain(store);
}

/** Records every delivery as a worker does after a successful attempt. */
async function deliverAll(store: TestStore): Promise<ReadonlySet<string>> {
  const rows = await store.db.query<{ event_id: string }>(
    `with due as (delete from webhook_due returning *)
     insert into webhook_deliveries (endpoint_id, status, event_created, event_position, id,
       account_id, livemode, event_id, event_type, created, updated, attempt, response_status)
     select endpoint_id, 'succeeded', event_created, event_position, id, account_id, livemode,
       event_id, event_type, created, updated, 1, 200
     from due returning event_id`,
  );
  return new Set(rows.map((row) => row.event_id));
}

const WITHDRAWN = 250_000n;
/** The day that the automatic payout is for. */
const PERIOD = '2026-11-19';

/**
 * Adds a pending withdrawal and its job.
 * @returns the withdrawal's id
 */
export async function addWithdrawal(
  store: TestStore,
  amount: bigint,
  period: string | null = null,
): Promise<string> {
  const { tenant, merchantNumber } = store.merchant;
  const now = store.clock.now();
  return store.db.transaction(async (tx) => {
    const { next, created } = await stampOrder(tx, tenant, now, 1);
    const id = newId('withdrawal', created);
    const number = BigInt(randomInt(1, 2 ** 40));
    const owner = { account_id: tenant.accountId, livemode: tenant.livemode };
    await withdrawals.insert(tx, {
      ...{ ...owner, id, number, position: next(), created, updated: created },
      ...{ amount, status: 'pending', wallet: '0x', requested_by: 'usr_test', period },
    });
    const receiver = { merchantNumber: String(merchantNumber), wallet: '0x' } as const;
    const payload = { ...receiver, amount: amount.toString() };
    const { livemode } = tenant;
    await requestOnChain(tx, { livemode, kind: 'withdrawal', subjectId: id, number, payload, now });
    return id;
  });
}

async function withdraw(store: TestStore): Promise<void> {
  const id = await addWithdrawal(store, WITHDRAWN, PERIOD);
  const now = store.clock.now();
  const { tenant } = store.merchant;
  const ended = {
    ...{ account_id: tenant.accountId, livemode: tenant.livemode },
    ...({ every: 'daily', period: PERIOD, status: 'requested' } as const),
    ...{ reason: null, withdrawal_id: id, updated: now },
  };
  await store.db.transaction((tx) => savePayout(tx, ended));
  const slot = { txHash: `0x${randomBytes(32).toString('hex')}`, blockNumber: '9', logIndex: 0 };
  const facts = { ...slot, blockTime: now.toISOString() };
  await store.db.query(
    `update chain_requests set status = 'succeeded', outcome = $1::text::jsonb
     where kind = 'withdrawal'`,
    [JSON.stringify({ succeeded: true, facts })],
  );
  while (await applyWithdrawalOutcomes({ ...store, log: silentLog }));
  // Opening the payout's statement stores a closing balance, so that there is one to check.
  await openPayout(
    store.db,
    { tenant, shop: { timeZone: 'UTC', starts: [] }, now: store.clock.now() },
    id,
  );
}
