import type { Tenant } from '#core/mode.ts';
import type { Sql, Tx } from '#db/database.ts';
import { type Page, selectPage } from '#db/paging.ts';
import { wholeKey } from '#db/plan-shapes.ts';
import { as, type Row, table } from '#db/table.ts';

export const withdrawals = table(
  'withdrawals',
  {
    id: 'text',
    recovered: 'boolean',
    account_id: 'text',
    livemode: 'boolean',
    position: 'bigint',
    created: 'timestamptz',
    updated: 'timestamptz',
    amount: 'bigint',
    wallet: 'text',
    status: as<'pending' | 'succeeded' | 'failed'>('text'),
    failure_code: 'text?',
    tx_hash: 'text?',
    requested_by: 'text',
    /** The first day of the period of an automatic payout. */
    period: 'text?',
    /** USDC for one unit of the shop's currency when it succeeded; `null` before. */
    shop_rate: 'text?',
  },
  { number: 'bigint?' },
);

export type WithdrawalRow = Row<typeof withdrawals>;

/** Returns the withdrawal with this number on the contract, of any account. */
export async function selectNumberedWithdrawal(
  tx: Tx,
  filter: { readonly livemode: boolean; readonly number: bigint },
): Promise<WithdrawalRow | undefined> {
  return withdrawals.find(tx, 'where livemode = $1 and number = $2', [
    filter.livemode,
    filter.number,
  ]);
}

/**
 * Returns the atoms by which withdrawals and refunds reduce the balance of a block: pending ones,
 * and those that were paid after that block.
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
  return withdrawals.findOwn(sql, tenant, id);
}

export async function selectWithdrawalPage(
  sql: Sql,
  tenant: Tenant,
  page: Page,
): Promise<WithdrawalRow[]> {
  const list = { table: 'withdrawals', columns: withdrawals.columns, filters: {} };
  return selectPage<WithdrawalRow>(sql, list, tenant, page);
}

export async function lockWithdrawals(tx: Tx, ids: readonly string[]): Promise<WithdrawalRow[]> {
  return withdrawals.list(tx, 'where id = any($1) order by id for update', [ids]);
}

/** Marks a withdrawal that was rebuilt from the chain as the payout of a period. */
export async function updatePeriod(
  tx: Tx,
  { id, period }: { readonly id: string; readonly period: string },
): Promise<void> {
  await withdrawals.update(tx, { period }, { where: 'id = $1', values: [id] });
}

/** Records that the withdrawal was rebuilt from the chain, with this number. */
export async function markRecovered(
  tx: Tx,
  { id, number }: { readonly id: string; readonly number: bigint },
): Promise<void> {
  await withdrawals.update(tx, { recovered: true, number }, { where: 'id = $1', values: [id] });
}

export async function updateWithdrawalEnded(
  tx: Tx,
  end: Pick<WithdrawalRow, 'id' | 'status' | 'failure_code' | 'tx_hash' | 'updated' | 'shop_rate'>,
): Promise<WithdrawalRow[]> {
  const { id, status, failure_code, tx_hash, updated, shop_rate } = end;
  const set = { status, failure_code, tx_hash, updated, shop_rate };
  return withdrawals.update(tx, set, { where: "id = $1 and status = 'pending'", values: [id] });
}
