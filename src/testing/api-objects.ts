import { randomBytes } from 'node:crypto';
import { present } from '#core/assert.ts';
import { newId } from '#core/ids.ts';
import { type Loop, startLoop } from '#core/loop.ts';
import { stampOrder } from '#db/commit-order.ts';
import type { Database } from '#db/database.ts';
import { toPayment } from '#payments/payment.ts';
import { insertPayments } from '#payments/payment-queries.ts';
import type { TestApi } from '#testing/api.ts';
import type { TestMode } from '#testing/merchants.ts';
import { playRefunds } from '#testing/store-payments.ts';

const DAY_MS = 86_400_000;
const AMOUNT = 2_500_000n;

/** A settled payment, written straight into the tables: no chain is needed to read it. */
export async function addTestPayment(
  db: Database,
  mode: TestMode,
  amount = AMOUNT,
): Promise<{ readonly id: string; readonly intentId: string }> {
  const now = new Date();
  const ids = { payment: newId('payment', now), intent: newId('paymentIntent', now) };
  const txHash = `0x${randomBytes(32).toString('hex')}`;
  const orderId = randomBytes(4).toString('hex');
  const address = `0x${randomBytes(20).toString('hex')}` as const;
  const attempt = { payerId: newId('payer', now), payerAddress: address };
  await db.transaction(async (tx) => {
    const stamp = await stampOrder(tx, mode.tenant, now, 2);
    await tx.query(
      `insert into payment_intents (id, account_id, livemode, position, created, amount,
         terminal_id, order_id, metadata, source, expires_at, status, attempt, payment_id, tx_hash)
       values ($1, $2, $3, $4, $5, $6, $7, $8, '{}', 'api', $5, 'succeeded', $9::text::jsonb,
         $10, $11)`,
      [
        ids.intent,
        mode.tenant.accountId,
        mode.tenant.livemode,
        stamp.next(),
        stamp.created,
        amount,
        mode.terminal,
        orderId,
        JSON.stringify({
          ...attempt,
          credential: { type: 'nfc_id', passId: newId('pass', now) },
          reasonCode: null,
        }),
        ids.payment,
        txHash,
      ],
    );
    await insertPayments(tx, [
      toPayment({
        id: ids.payment,
        account_id: mode.tenant.accountId,
        livemode: mode.tenant.livemode,
        position: stamp.next(),
        created: stamp.created,
        payment_intent_id: ids.intent,
        terminal_id: mode.terminal,
        payer_id: attempt.payerId,
        payer_address: address,
        order_id: orderId,
        split_group: null,
        method_type: 'wallet_pass',
        credential_type: 'nfc_id',
        amount,
        fee_acquirer: 7_500n,
        fee_protocol: 5_000n,
        fee_cashback: 1_250n,
        amount_reserved: 0n,
        amount_refunded: 0n,
        chain_id: 31_337n,
        settlement_number: BigInt(randomBytes(6).readUIntBE(0, 6)),
        batch_number: 1n,
        tx_hash: txHash,
        block_number: 7n,
        log_index: 0,
        settled_at: stamp.created,
        refundable_until: new Date(stamp.created.getTime() + 180 * DAY_MS),
      }),
    ]);
  });
  return { id: ids.payment, intentId: ids.intent };
}

/** The id of the newest event of a type. */
export async function newestEvent(db: Database, mode: TestMode, type: string): Promise<string> {
  const rows = await db.query<{ id: string }>(
    `select id from events where account_id = $1 and livemode = $2 and type = $3
     order by position desc limit 1`,
    [mode.tenant.accountId, mode.tenant.livemode, type],
  );
  return present(rows[0], 'event').id;
}

/** Plays the chain for refunds: each one succeeds a moment after it was asked for. */
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

/** A webhook endpoint of the merchant's test mode, made over the API. */
export async function addTestEndpoint(
  api: TestApi,
  url: string,
  enabledEvents: readonly string[] = ['*'],
): Promise<string> {
  const body = { url, enabled_events: enabledEvents };
  return (await api.call({ path: '/v1/webhook_endpoints', body })).body.id;
}

/** Lets test endpoints be reached on this machine. */
export const LOCAL_WEBHOOKS = { WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8' } as const;
