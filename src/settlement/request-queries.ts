import { only } from '#core/assert.ts';
import type { Tx } from '#db/database.ts';

export interface OutcomeRow {
  id: bigint;
  kind: string;
  livemode: boolean;
  subject_id: string;
  outcome: unknown;
}

export async function insertRequest(
  tx: Tx,
  request: {
    readonly livemode: boolean;
    readonly kind: string;
    readonly subjectId: string;
    readonly payload: string;
    readonly now: Date;
  },
): Promise<void> {
  await tx.query(
    `insert into chain_requests (livemode, kind, subject_id, payload, status, created)
     values ($1, $2, $3, $4::text::jsonb, 'queued', $5)`,
    [request.livemode, request.kind, request.subjectId, request.payload, request.now],
  );
}

/**
 * The number of an intent on the settlement contract: the same for each of its attempts, so that
 * the contract settles the intent at most once whatever happened to earlier attempts.
 */
export async function settlementNumber(
  tx: Tx,
  of: { readonly livemode: boolean; readonly intentId: string },
): Promise<bigint> {
  const sequence = of.livemode ? 'settlement_number_live' : 'settlement_number_test';
  const rows = await tx.query<{ number: bigint }>(
    `with known as (
       select number from settlement_numbers where payment_intent_id = $2
     ), added as (
       insert into settlement_numbers (livemode, number, payment_intent_id)
       select $1, nextval('${sequence}'), $2 where not exists (select from known)
       returning number
     )
     select number from known union all select number from added`,
    [of.livemode, of.intentId],
  );
  return only(rows, 'settlement number').number;
}

export async function selectOutcomes(tx: Tx, kind: string, limit: number): Promise<OutcomeRow[]> {
  return tx.query(
    `select id, kind, livemode, subject_id, outcome from chain_requests
     where kind = $1 and status in ('succeeded', 'failed') and applied_at is null
     order by id limit $2 for update skip locked`,
    [kind, limit],
  );
}

export async function markOutcomesApplied(
  tx: Tx,
  ids: readonly bigint[],
  now: Date,
): Promise<void> {
  await tx.query('update chain_requests set applied_at = $2 where id = any($1)', [ids, now]);
}
