import { only } from '#core/assert.ts';
import type { Tenant } from '#core/mode.ts';
import type { Sql, Tx } from '#db/database.ts';
import { type Page, selectPage } from '#db/paging.ts';
import { ofTenant, wholeKey } from '#db/plan-shapes.ts';

export interface WithdrawalRow {
  readonly id: string;
  readonly recovered: boolean;
  readonly account_id: string;
  readonly livemode: boolean;
  readonly position: bigint;
  readonly created: Date;
  readonly updated: Date;
  readonly amount: bigint;
  readonly wallet: string;
  readonly status: 'pending' | 'succeeded' | 'failed';
  readonly failure_code: string | null;
  readonly tx_hash: string | null;
  readonly requested_by: string;
}

const COLUMNS = `id, recovered,
  account_id, livemode, position, created, updated, amount, wallet, status,
  failure_code, tx_hash, requested_by`;

export async function insertWithdrawal(
  tx: Tx,
  withdrawal: {
    readonly id: string;
    readonly number: bigint;
    readonly tenant: Tenant;
    readonly position: bigint;
    readonly created: Date;
    readonly amount: bigint;
    readonly wallet: string;
    readonly requestedBy: string;
  },
): Promise<WithdrawalRow> {
  const rows = await tx.query<WithdrawalRow>(
    `insert into withdrawals (id, account_id, livemode, position, created, updated, amount, wallet,
       status, requested_by, number)
     values ($1, $2, $3, $4, $5, $5, $6, $7, 'pending', $8, $9) returning ${COLUMNS}`,
    [
      withdrawal.id,
      withdrawal.tenant.accountId,
      withdrawal.tenant.livemode,
      withdrawal.position,
      withdrawal.created,
      withdrawal.amount,
      withdrawal.wallet,
      withdrawal.requestedBy,
      withdrawal.number,
    ],
  );
  return only(rows, 'withdrawal');
}

/** The withdrawal that the contract pays under this number, of any account. */
export async function selectNumberedWithdrawal(
  tx: Tx,
  wanted: { readonly livemode: boolean; readonly number: bigint },
): Promise<WithdrawalRow | undefined> {
  const rows = await tx.query<WithdrawalRow>(
    `select ${COLUMNS} from withdrawals where livemode = $1 and number = $2`,
    [wanted.livemode, wanted.number],
  );
  return rows[0];
}

/**
 * Atoms that withdrawals and refunds take out of the balance of a block: those that are pending,
 * and those that were paid after it.
 */
export async function selectSpokenFor(
  tx: Tx,
  tenant: Tenant,
  blockNumber: bigint,
): Promise<bigint> {
  const rows = await tx.query<{ amount: bigint }>(
    `select coalesce((select sum(amount) from withdrawals
         where account_id = $1 and livemode = $2 and status = 'pending'), 0)::bigint
       + coalesce((select sum(amount) from refunds
         where ${wholeKey(['status', 'account_id', 'livemode'], ["'pending'", '$1', '$2'])}
         ), 0)::bigint
       + coalesce((select sum((r.payload ->> 'amount')::bigint)
         from chain_transactions t
         join chain_requests r on r.transaction_id = t.id and r.status = 'succeeded'
         left join withdrawals w on w.id = r.subject_id and w.status = 'succeeded'
         left join refunds f on f.id = r.subject_id and f.status = 'succeeded'
         where t.livemode = $2 and t.kind in ('refund', 'withdrawal') and t.block_number > $3
           and coalesce(w.account_id, f.account_id) = $1), 0)::bigint as amount`,
    [tenant.accountId, tenant.livemode, blockNumber],
  );
  return rows[0]?.amount ?? 0n;
}

export async function selectWithdrawal(
  sql: Sql,
  tenant: Tenant,
  id: string,
): Promise<WithdrawalRow | undefined> {
  const rows = await sql.query<WithdrawalRow>(
    `select ${COLUMNS} from withdrawals where id = $3 and ${ofTenant('$1', '$2')}`,
    [tenant.accountId, tenant.livemode, id],
  );
  return rows[0];
}

export async function selectWithdrawalPage(
  sql: Sql,
  tenant: Tenant,
  page: Page,
): Promise<WithdrawalRow[]> {
  const list = { table: 'withdrawals', columns: COLUMNS, filters: {} };
  return selectPage<WithdrawalRow>(sql, list, tenant, page);
}

export async function lockWithdrawals(tx: Tx, ids: readonly string[]): Promise<WithdrawalRow[]> {
  return tx.query(`select ${COLUMNS} from withdrawals where id = any($1) order by id for update`, [
    ids,
  ]);
}

/** Rebuilt from the chain, where it has this number. */
export async function markRecovered(
  tx: Tx,
  rebuilt: { readonly id: string; readonly number: bigint },
): Promise<void> {
  await tx.query('update withdrawals set recovered = true, number = $2 where id = $1', [
    rebuilt.id,
    rebuilt.number,
  ]);
}

export async function updateWithdrawalEnded(
  tx: Tx,
  end: {
    readonly id: string;
    readonly status: 'succeeded' | 'failed';
    readonly failureCode: string | null;
    readonly txHash: string | null;
    readonly now: Date;
  },
): Promise<WithdrawalRow[]> {
  return tx.query(
    `update withdrawals set status = $2, failure_code = $3, tx_hash = $4, updated = $5
     where id = $1 and status = 'pending' returning ${COLUMNS}`,
    [end.id, end.status, end.failureCode, end.txHash, end.now],
  );
}
