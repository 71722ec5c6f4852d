import { addMs, addSeconds } from '#core/clock.ts';
import { HOUR_MS } from '#core/durations.ts';
import { sha256 } from '#core/sha256.ts';
import type { Sql } from '#db/database.ts';
import {
  type IntentRow,
  type PaymentIntent,
  paymentIntents,
  toIntent,
} from '#payments/intent-rows.ts';
import { type Payment, payments } from '#payments/payment.ts';

/** An attempt of a payer that has ended, paid or declined. */
export type PayerResult = {
  readonly payerId: string;
  readonly merchant: string;
  /** By the service's clock, at most a transaction's length before the commit. */
  readonly at: Date;
} & ({ readonly payment: Payment } | { readonly declined: PaymentIntent });

/** How far back results are news. A wallet that was closed for longer shows them in its history. */
const NEWS_MS = HOUR_MS;
/** Results per kind: more than a person's payments in an hour. The history lists all. */
const MOST_RESULTS = 20;

/** Identifies a result among those of its payer: a second decline of an intent is another one. */
export function resultDigest(result: PayerResult): Buffer {
  const id = 'payment' in result ? result.payment.id : result.declined.id;
  return sha256(`${id} ${result.at.getTime()}`).subarray(0, RESULT_DIGEST_BYTES);
}

/** Long enough that no two results of a payer's minute are taken for one. */
export const RESULT_DIGEST_BYTES = 8;

interface Named {
  readonly asking_payer: string;
  readonly merchant_name: string;
}

/**
 * Returns the latest results of these payers. Payments by agents are left out, because a person
 * who pays at a till looks at the wallet, and one whose agent pays does not. The condition on the
 * accounts' times finds more than the last hour if a test clock is ahead.
 */
export async function selectPayerResults(
  sql: Sql,
  payerIds: readonly string[],
  now: Date,
): Promise<PayerResult[]> {
  const since = addMs(now, -NEWS_MS);
  const [paid, declined] = await Promise.all([
    selectPaid(sql, payerIds, since),
    selectDeclined(sql, payerIds, since),
  ]);
  return [...paid, ...declined].filter(({ at }) => at > since);
}

async function selectPaid(
  sql: Sql,
  payerIds: readonly string[],
  since: Date,
): Promise<PayerResult[]> {
  const rows = await sql.query<Payment & Named>(
    `select p.*, payer.id as asking_payer, a.name as merchant_name
     from unnest($1::text[]) as payer (id) cross join lateral (
       select ${payments.columns} from payments where payer_id = payer.id and settled_at > $2
       order by settled_at desc, settlement_number desc limit ${MOST_RESULTS}) p
     join accounts a on a.id = p.account_id`,
    [payerIds, since],
  );
  return rows.flatMap((row): PayerResult[] => {
    if (row.recovered || row.credential_type === 'agent_token') return [];
    const at = addSeconds(row.created, -row.ahead_seconds);
    return [{ payerId: row.asking_payer, merchant: row.merchant_name, at, payment: row }];
  });
}

async function selectDeclined(
  sql: Sql,
  payerIds: readonly string[],
  since: Date,
): Promise<PayerResult[]> {
  const rows = await sql.query<IntentRow & Named>(
    `select i.*, payer.id as asking_payer, a.name as merchant_name
     from unnest($1::text[]) as payer (id) cross join lateral (
       select ${paymentIntents.columns} from payment_intents
       where declined_payer_id = payer.id
         and (last_payment_error ->> 'created') collate "C" > $2
       order by (last_payment_error ->> 'created') collate "C" desc limit ${MOST_RESULTS}) i
     join accounts a on a.id = i.account_id`,
    [payerIds, since.toISOString()],
  );
  return rows.flatMap((row): PayerResult[] => {
    const { created } = row.last_payment_error ?? {};
    if (created === undefined) return [];
    const at = addSeconds(new Date(created), -row.ahead_seconds);
    const declined = toIntent(row);
    return [{ payerId: row.asking_payer, merchant: row.merchant_name, at, declined }];
  });
}
