import { randomBytes } from 'node:crypto';
import { closeShift, openShift } from '#accounts/shift-rows.ts';
import { SHIFT_REPORT_EXAMPLE } from '#apis/merchant/shift-schema.ts';
import { present } from '#core/assert.ts';
import { type Loop, startLoop } from '#core/background-loop.ts';
import { DAY_MS } from '#core/durations.ts';
import { newId } from '#core/ids.ts';
import { atoms, ZERO } from '#core/money.ts';
import { type Stamp, stampOrder } from '#db/commit-order.ts';
import type { Database, Tx } from '#db/database.ts';
import type { Payment } from '#payments/payment.ts';
import { insertPayments } from '#payments/payment-queries.ts';
import { giveReceiptNumbers } from '#payments/receipt-numbers.ts';
import { shiftReports } from '#shifts/shift-report-queries.ts';
import type { TestApi } from '#testkit/apis/api.ts';
import type { TestMode } from '#testkit/fixtures/payments/merchants.ts';
import { playRefunds } from '#testkit/fixtures/payments/store-payments.ts';

const AMOUNT = 2_500_000n;

interface Settled {
  readonly ids: { readonly payment: string; readonly intent: string };
  readonly mode: TestMode;
  readonly stamp: Stamp;
  readonly amount: bigint;
  readonly orderId: string;
  readonly txHash: string;
  readonly payer: { readonly payerId: string; readonly payerAddress: `0x${string}` };
}

async function insertSettledIntent(tx: Tx, made: Settled): Promise<void> {
  const { tenant, terminal } = made.mode;
  const credential = { type: 'nfc_id', passId: newId('pass', made.stamp.created) };
  await tx.query(
    `insert into payment_intents (id, account_id, livemode, position, created, amount,
       terminal_id, order_id, metadata, source, expires_at, status, attempt, payment_id, tx_hash)
     values ($1, $2, $3, $4, $5, $6, $7, $8, '{}', 'api', $5, 'succeeded', $9::text::jsonb,
       $10, $11)`,
    [
      made.ids.intent,
      tenant.accountId,
      tenant.livemode,
      made.stamp.next(),
      made.stamp.created,
      made.amount,
      terminal,
      made.orderId,
      JSON.stringify({ ...made.payer, credential, reasonCode: null }),
      made.ids.payment,
      made.txHash,
    ],
  );
}

function toSettledPayment(settled: Settled): Payment {
  const { created } = settled.stamp;
  return {
    id: settled.ids.payment,
    recovered: false,
    account_id: settled.mode.tenant.accountId,
    livemode: settled.mode.tenant.livemode,
    position: settled.stamp.next(),
    created,
    ahead_seconds: 0n,
    payment_intent_id: settled.ids.intent,
    terminal_id: settled.mode.terminal,
    location_id: null,
    payer_id: settled.payer.payerId,
    payer_address: settled.payer.payerAddress,
    order_id: settled.orderId,
    receipt_number: null,
    split_group: null,
    cashier_id: null,
    method_type: 'wallet_pass',
    credential_type: 'nfc_id',
    amount: atoms(settled.amount),
    tip: ZERO,
    presentment: null,
    lines: null,
    taxes: null,
    shop_rate: null,
    fee_acquirer: atoms(7_500),
    fee_protocol: atoms(5_000),
    fee_cashback: atoms(1_250),
    amount_reserved: ZERO,
    amount_refunded: ZERO,
    chain_id: 31_337n,
    settlement_number: BigInt(randomBytes(6).readUIntBE(0, 6)),
    batch_number: 1n,
    tx_hash: settled.txHash,
    block_number: 7n,
    log_index: 0,
    settled_at: created,
    refundable_until: new Date(created.getTime() + 180 * DAY_MS),
  };
}

/** Writes a settled payment directly into the tables, for tests that only read it. */
export async function addTestPayment(
  db: Database,
  mode: TestMode,
  amount = AMOUNT,
): Promise<{ readonly id: string; readonly intentId: string }> {
  const now = new Date();
  const ids = { payment: newId('payment', now), intent: newId('paymentIntent', now) };
  const payer = {
    payerId: newId('payer', now),
    payerAddress: `0x${randomBytes(20).toString('hex')}`,
  } as const;
  const txHash = `0x${randomBytes(32).toString('hex')}`;
  const orderId = randomBytes(4).toString('hex');
  await db.transaction(async (tx) => {
    const stamp = await stampOrder(tx, mode.tenant, now, 2);
    const settled = { ids, mode, stamp, amount, orderId, txHash, payer };
    await insertSettledIntent(tx, settled);
    await insertPayments(tx, [toSettledPayment(settled)]);
  });
  return { id: ids.payment, intentId: ids.intent };
}

/**
 * Stores the first report of a terminal, for tests that only read it.
 * @param itemName the name of its only item
 */
export async function addShiftReport(
  db: Database,
  { tenant, terminal }: Pick<TestMode, 'tenant' | 'terminal'>,
  itemName = 'Flat white',
): Promise<{ readonly id: string }> {
  const { accountId, livemode } = tenant;
  return db.transaction(async (tx) => {
    const stamp = await stampOrder(tx, tenant, new Date(), 1);
    const { created } = stamp;
    const person = { personId: null, pinId: null };
    const shift = { terminalId: terminal, accountId, ...person, now: created };
    const { id } = await openShift(tx, shift);
    await closeShift(tx, { id, endedAt: created });
    const items = SHIFT_REPORT_EXAMPLE.items.map((item) => ({ ...item, name: itemName }));
    const numbered = { account_id: accountId, livemode, terminal_id: terminal };
    const numberOf = await giveReceiptNumbers(tx, [numbered], { kind: 'shift', now: created });
    const [series = ''] = numberOf(terminal).split('-');
    await shiftReports.insert(tx, {
      ...{ id, account_id: accountId, livemode, created, position: stamp.next() },
      ...{ terminal_id: terminal, previous_position: null, series, number: 1n },
      body: JSON.stringify({ ...SHIFT_REPORT_EXAMPLE, id, series, number: 1, terminal, items }),
    });
    return { id };
  });
}

export async function newestEvent(db: Database, mode: TestMode, type: string): Promise<string> {
  const rows = await db.query<{ id: string }>(
    `select id from events where account_id = $1 and livemode = $2 and type = $3
     order by position desc limit 1`,
    [mode.tenant.accountId, mode.tenant.livemode, type],
  );
  return present(rows[0], 'event').id;
}

/** Simulates the chain for refunds: each succeeds shortly after it was requested. */
export function keepRefunding(api: Pick<TestApi, 'db' | 'clock' | 'wakeups'>): Loop {
  return startLoop({
    name: 'played refunds',
    pollMs: 20,
    run: async () => (await playRefunds(api)) > 0,
    onError: (_name, error) => {
      throw error;
    },
  });
}

export async function addTestEndpoint(
  api: TestApi,
  url: string,
  enabledEvents: readonly string[] = ['*'],
): Promise<string> {
  const body = { url, enabled_events: enabledEvents };
  return (await api.call({ path: '/v1/webhook_endpoints', body })).body.id;
}

/** Allows webhooks to endpoints on this machine. */
export const LOCAL_WEBHOOKS = { WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8' } as const;
