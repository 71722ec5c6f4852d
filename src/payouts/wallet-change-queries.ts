import type { Tenant } from '#core/mode.ts';
import type { Sql, Tx } from '#db/database.ts';
import { as, type Row, table } from '#db/table.ts';

/** The recorded actor of an announcement or a change that was made directly on the contract. */
export const BY_CONTRACT = 'contract';

export const walletChanges = table('wallet_changes', {
  id: 'text',
  account_id: 'text',
  livemode: 'boolean',
  /** `null` if an earlier release stored the change. */
  merchant_number: 'bigint?',
  wallet: 'text',
  previous_wallet: 'text',
  status: as<'pending' | 'announced' | 'applied' | 'canceled' | 'failed'>('text'),
  delay_seconds: 'int',
  applicable_at: 'timestamptz?',
  failure_reason: 'text?',
  requested_by: 'text',
  created: 'timestamptz',
  updated: 'timestamptz',
});

export type WalletChangeRow = Row<typeof walletChanges>;

export async function selectWalletChange(
  sql: Sql,
  tenant: Tenant,
): Promise<WalletChangeRow | undefined> {
  return walletChanges.find(
    sql,
    `where account_id = $1 and livemode = $2
     order by status = 'announced' desc, created desc, id desc limit 1`,
    [tenant.accountId, tenant.livemode],
  );
}

/** Locks and returns the open changes of the account and mode, on each of its contracts. */
export async function lockOpenWalletChanges(tx: Tx, tenant: Tenant): Promise<WalletChangeRow[]> {
  return walletChanges.list(
    tx,
    `where account_id = $1 and livemode = $2 and status in ('pending', 'announced')
     order by id for update`,
    [tenant.accountId, tenant.livemode],
  );
}

export async function lockWalletChange(tx: Tx, id: string): Promise<WalletChangeRow | undefined> {
  return walletChanges.find(tx, 'where id = $1 for update', [id]);
}

/**
 * Locks announced changes that are not held, whose delay has passed and whose application was not
 * requested yet. Includes only changes that an owner requested here: the service does not apply a
 * wallet announced by another party.
 */
export async function lockDueWalletChanges(
  tx: Tx,
  filter: { readonly now: Date; readonly limit: number },
): Promise<(WalletChangeRow & { readonly merchant_number: bigint })[]> {
  return tx.query(
    `select w.id, w.account_id, w.livemode, w.wallet, w.previous_wallet, w.status,
       w.delay_seconds, w.applicable_at, w.failure_reason, w.requested_by, w.created, w.updated,
       coalesce(w.merchant_number, m.merchant_number) as merchant_number
     from wallet_changes w
     join account_modes m on m.account_id = w.account_id and m.livemode = w.livemode
     where w.status = 'announced' and w.applicable_at <= $1 and w.requested_by <> $3
       and not exists (
       select from chain_requests r
       where r.kind = 'wallet_change' and r.subject_id = w.id || ':apply'
         and r.status in ('queued', 'submitted', 'succeeded'))
       and not exists (
         select from payout_holds h where h.account_id = w.account_id and h.lifted_at is null)
     order by w.applicable_at limit $2 for update of w skip locked`,
    [filter.now, filter.limit, BY_CONTRACT],
  );
}

/** True if the change's cancellation was requested or has succeeded. */
export async function hasRequestedCancel(tx: Tx, id: string): Promise<boolean> {
  const rows = await tx.query(
    `select 1 from chain_requests where kind = 'wallet_change' and subject_id = $1 || ':cancel'
       and status in ('queued', 'submitted', 'succeeded')`,
    [id],
  );
  return rows.length > 0;
}

/**
 * Asks the watchtower, if one is running, to cancel the registrar's proposal. Otherwise stores
 * nothing: a watchtower that starts later might cancel another wallet.
 */
export async function askWatchtower(
  tx: Tx,
  step: {
    readonly livemode: boolean;
    readonly merchantNumber: bigint;
    readonly reason: string;
    readonly now: Date;
  },
): Promise<void> {
  await tx.query(
    `insert into watch_steps (livemode, step, merchant_number, reason, created)
     select $1, 'cancel_wallet', $2, $3, $4::timestamptz
     where exists (
       select from watch_cursors
       where livemode = $1 and looked_at > $4::timestamptz - interval '10 minutes')`,
    [step.livemode, step.merchantNumber, step.reason, step.now],
  );
}

export async function updateWalletChange(tx: Tx, row: WalletChangeRow): Promise<void> {
  const { id, status, applicable_at, failure_reason, updated } = row;
  const set = { status, applicable_at, failure_reason, updated };
  await walletChanges.update(tx, set, { where: 'id = $1', values: [id] });
}
