import { only } from '#core/assert.ts';
import { columnsFrom, type Sent } from '#db/columns.ts';
import type { Sql, Tx } from '#db/database.ts';
import type { RequestKind } from '#settlement/chain-requests.ts';

const GAS_KINDS = ['payment', 'enrolment', 'transfer', 'wallet_deployment'] as const;

/** The kinds of calls that callers from outside make the operator pay for. */
export type GasKind = (typeof GAS_KINDS)[number];

export function isGasKind(kind: RequestKind): kind is GasKind {
  return (GAS_KINDS as readonly RequestKind[]).includes(kind);
}

export interface GasCall {
  readonly livemode: boolean;
  readonly kind: GasKind;
  readonly subjectId: string;
  readonly wallet: string;
  /** True if the wallet has paid on this network before. */
  readonly hasPaid: boolean;
  /** The pay link or tag of a payment, and whether the wallet has paid its merchant before. */
  readonly door?: string;
  readonly hasPaidHere?: boolean;
  /** The sale whose fees are higher than the cost of the deployment. */
  readonly coveredBy?: string;
  readonly gas: bigint;
  readonly now: Date;
}

/** The gas of a kind's calls since a time, and that of wallets that were not trusted. */
export async function selectGasSpent(
  tx: Tx,
  filter: {
    readonly livemode: boolean;
    readonly kind: GasKind;
    readonly wallet: string;
    readonly since: Date;
  },
) {
  const rows = await tx.query<{ spent: bigint; by_strangers: bigint; has_failed: boolean }>(
    `select coalesce(sum(gas), 0)::bigint as spent,
       coalesce(sum(gas) filter (where not trusted), 0)::bigint as by_strangers,
       coalesce(bool_or(failed and wallet = $4), false) as has_failed
     from gas_spending where livemode = $1 and kind = $2 and created > $3`,
    [filter.livemode, filter.kind, filter.since, filter.wallet],
  );
  return only(rows, 'gas of a day');
}

/** The payments at a pay link or tag since a time that failed, and those without a result. */
export async function selectAtDoor(
  tx: Tx,
  filter: { readonly door: string; readonly since: Date },
) {
  const rows = await tx.query<{ failed: number; pending: number; first: Date | null }>(
    `select count(*) filter (where failed)::int as failed,
       count(*) filter (where failed is null)::int as pending, min(created) as first
     from gas_spending where door = $1 and created > $2 and failed is distinct from false`,
    [filter.door, filter.since],
  );
  return only(rows, 'payments at a door');
}

/** Inserts a call, and deletes calls of its kind that are too old to count. @returns its id. */
export async function insertSpending(
  tx: Tx,
  call: GasCall & { readonly trusted: boolean; readonly since: Date },
): Promise<bigint> {
  const { livemode, kind, subjectId, wallet, trusted, door, coveredBy, gas, now, since } = call;
  const rows = await tx.query<{ id: bigint }>(
    `with old as (
       delete from gas_spending where livemode = $1 and kind = $2 and created <= $10
     )
     insert into gas_spending
       (livemode, kind, subject_id, wallet, trusted, door, covered_by, gas, created)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9) returning id`,
    [
      ...[livemode, kind, subjectId, wallet, trusted, door ?? null, coveredBy ?? null],
      ...[gas.toString(), now, since],
    ],
  );
  return only(rows, 'gas of a call').id;
}

/** Deletes the call of a payment for which no transaction was or will be sent. */
export async function deleteUnsent(
  sql: Sql,
  { id, subjectId, isRefused }: { id: bigint; subjectId: string; isRefused: boolean },
): Promise<void> {
  await sql.query(
    `delete from gas_spending where id = $1 and failed is null and ($3 or not exists (
       select from chain_requests where kind = 'payment' and subject_id = $2
         and (status in ('queued', 'submitted') or applied_at is null)))`,
    [id.toString(), subjectId, isRefused],
  );
}

const USED = columnsFrom(1, {
  kind: 'text',
  subject_id: 'text',
  transaction_id: 'bigint',
  gas: 'bigint',
});

const ADD_USED = `
  update gas_spending g set used = g.used + i.gas
  from ${USED.table('i')}
  join chain_transactions t on t.id = i.transaction_id and t.status = 'signed'
  where g.kind = i.kind and g.subject_id = i.subject_id and g.failed is null`;

/** Adds the used gas of transactions that are about to be marked as mined, so each counts once. */
export async function addGasUsed(tx: Tx, rows: readonly Sent<typeof USED>[]): Promise<void> {
  if (rows.length > 0) await USED.run(tx, ADD_USED, { rows });
}
