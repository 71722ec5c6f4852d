import { type Answer, answerRefusal, isRefusal, type Refusal } from '#core/answer.ts';
import type { Json } from '#core/canonical-json.ts';
import type { Clock } from '#core/clock.ts';
import { silentLog } from '#observability/log.ts';
import { applySettlements } from '#payments/apply-settlements.ts';
import type { Payment } from '#payments/payment.ts';
import { selectPaymentPage } from '#payments/payment-queries.ts';
import type { CreateRequest, NewIntent } from '#payments/price-new-intent.ts';
import { applyRefundOutcomes } from '#refunds/apply-refund-results.ts';
import type { FailureReason } from '#settlement/chain-requests.ts';
import { firstPage } from '#testing/first-page.ts';
import {
  addIntent,
  addMerchant,
  addPayer,
  addTerminal,
  type IntentOptions,
  newRequest,
  openSale,
  pay,
  playChain,
  TEST_RECEIPTS,
  type TestStore,
} from '#testing/store.ts';
import { limitPayer, refund } from '#testing/store-requests.ts';

/** Adds another merchant to the same database, with a terminal and a clock of its own. */
export async function addStore(store: TestStore, clock: Clock): Promise<TestStore> {
  const merchant = await addMerchant(store.db, { now: clock.now() });
  const counter = await addTerminal(store.db, merchant, clock.now());
  return { ...store, ...counter, merchant, clock, ctx: { ...store.ctx, clock } };
}

/** Returns a request for a new intent, as a merchant's server would send it. */
export function newCreate(
  store: Pick<TestStore, 'clock' | 'merchant' | 'terminalId'>,
  input: Partial<NewIntent> = {},
  request: Partial<Omit<CreateRequest, 'input'>> = {},
): CreateRequest {
  return {
    merchant: store.merchant,
    idempotency: newRequest(store),
    requestId: 'req_test',
    now: store.clock.now(),
    input: {
      amount: 2_500_000,
      lines: null,
      tipping: null,
      terminalId: store.terminalId,
      orderId: null,
      description: null,
      metadata: {},
      source: 'api',
      splitGroup: null,
      expiresIn: 120,
      ...input,
    },
    ...request,
  };
}

export type JsonObject = { readonly [field: string]: Json };

/** The parts of a response that tests compare. */
export interface Seen {
  readonly status: number;
  readonly replayed: boolean;
  /** The error's code or, without an error, the object's status. */
  readonly said: string;
  readonly body: JsonObject;
}

export function see(result: Answer | Refusal): Seen {
  const answer = isRefusal(result)
    ? answerRefusal(result, { requestId: 'req_test', docsUrl: 'http://docs.test' })
    : result;
  const body = JSON.parse(answer.body);
  return {
    status: answer.status,
    replayed: answer.headers?.['Idempotent-Replayed'] === 'true',
    said: body.error?.code ?? body.status,
    body,
  };
}

/** Returns the newest payment of an intent. */
export async function findPayment(
  store: Pick<TestStore, 'db' | 'merchant'>,
  intentId: string,
): Promise<Payment | undefined> {
  const filters = { payment_intent_id: intentId };
  const wanted = { tenant: store.merchant.tenant, filters };
  return (await selectPaymentPage(store.db, wanted, firstPage(1)))[0];
}

/** Has a new payer pay this intent, and returns the settled payment. */
export async function payNow(store: TestStore, intentId: string, tip?: number): Promise<Payment> {
  const { pass } = await addPayer(store);
  await pay(store, { intentId, pass, hangUp: true, ...(tip !== undefined && { tip }) });
  await playChain(store);
  const payment = await findPayment(store, intentId);
  if (payment === undefined) throw new Error('the payment was not settled');
  return payment;
}

/** Adds a settled payment by a new payer. */
export async function addPayment(
  store: TestStore,
  amount: NewIntent['amount'] = 2_500_000,
  lines: NewIntent['lines'] = null,
): Promise<Payment> {
  return payNow(store, await addIntent(store, { amount, lines }));
}

/** Adds an intent that waits for a payer who does not answer. */
export async function addAsked(store: TestStore, options: IntentOptions = {}): Promise<string> {
  const { intentId, pass, payer } = await openSale(store, options);
  await limitPayer(store, payer.id, { confirmFirst: true });
  await pay(store, { intentId, pass });
  return intentId;
}

/** Returns the status of an intent that a worker or a request has stored. */
export async function storedStatus(
  { db }: Pick<TestStore, 'db'>,
  intentId: string,
): Promise<string | undefined> {
  const rows = await db.query<{ status: string }>(
    'select status from payment_intents where id = $1',
    [intentId],
  );
  return rows[0]?.status;
}

/**
 * Plays a relayer that finds the settlement of an intent's first attempt after that attempt was
 * declined: see followChain. Then applies the result.
 */
export async function settleAfterDecline(store: TestStore, intentId: string): Promise<void> {
  await store.db.query(
    `update chain_requests r set status = 'succeeded', applied_at = null,
       outcome = jsonb_build_object('succeeded', true, 'afterDecline', payload -> 'attempt',
         'facts', jsonb_build_object('txHash', '0x' || repeat('ef', 32), 'blockNumber', '9',
           'logIndex', 0, 'blockTime', '2026-10-01T12:00:00.000Z', 'batchNumber', '2',
           'feeAcquirer', '7500', 'feeProtocol', '5000', 'cashback', '1250', 'chainId', 31337,
           'settlementNumber', r.number::text))
     where id = (select min(id) from chain_requests where subject_id = $1)`,
    [intentId],
  );
  while (await applySettlements(store));
}

/**
 * Plays the parts of relayer and contract: completes all pending refunds.
 * @returns the number of refunds
 */
export async function playRefunds(
  store: Pick<TestStore, 'db' | 'clock' | 'wakeups'>,
  failure?: FailureReason,
): Promise<number> {
  const place = { txHash: `0x${'cd'.repeat(32)}`, blockNumber: '9', logIndex: 0 };
  const facts = { ...place, blockTime: store.clock.now().toISOString() };
  const outcome = failure
    ? { succeeded: false, reason: failure, txHash: null }
    : { succeeded: true, facts };
  const rows = await store.db.query(
    `update chain_requests set status = case when $2 then 'succeeded' else 'failed' end,
       outcome = $1::text::jsonb
     where kind = 'refund' and status = 'queued' returning id`,
    [JSON.stringify(outcome), failure === undefined],
  );
  while (await applyRefundOutcomes({ ...store, log: silentLog, pages: TEST_RECEIPTS }));
  return rows.length;
}

/** Refunds a payment, and simulates the chain's result. Returns the refund as the API shows it. */
export async function refundNow(
  store: TestStore,
  asked: Parameters<typeof refund>[1],
  failure?: FailureReason,
): Promise<JsonObject> {
  const answer = refund(store, asked);
  while ((await playRefunds(store, failure)) === 0);
  return see(await answer).body;
}

/** Returns the types of the merchant's events, in order; optionally only those about one object. */
export async function eventTypes(
  store: Pick<TestStore, 'db' | 'merchant'>,
  objectId: string | null = null,
): Promise<string[]> {
  const rows = await store.db.query<{ type: string }>(
    `select type from events
     where account_id = $1 and ($2::text is null or object_id = $2) order by position`,
    [store.merchant.tenant.accountId, objectId],
  );
  return rows.map((row) => row.type);
}

/** Returns the `data` of the merchant's newest event of a type. */
export async function lastData(
  store: Pick<TestStore, 'db' | 'merchant'>,
  type: string,
): Promise<{ readonly object: JsonObject; readonly previous_attributes?: JsonObject }> {
  const rows = await store.db.query<{ body: string }>(
    `select body from events where account_id = $1 and type = $2
     order by position desc limit 1`,
    [store.merchant.tenant.accountId, type],
  );
  return JSON.parse(rows[0]?.body ?? 'null')?.data;
}

/** Returns the object in the merchant's newest event of a type. */
export async function lastSnapshot(
  store: Pick<TestStore, 'db' | 'merchant'>,
  type: string,
): Promise<JsonObject> {
  return (await lastData(store, type)).object;
}
