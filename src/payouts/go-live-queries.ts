import type { Tenant } from '#core/mode.ts';
import type { Sql, Tx } from '#db/database.ts';
import { as, type Row, table } from '#db/table.ts';
import type { Hex } from '#settlement/chain-requests.ts';

export const goLiveRequests = table(
  'go_live_requests',
  {
    id: 'text',
    account_id: 'text',
    livemode: 'boolean',
    wallet: 'text',
    status: as<'pending' | 'succeeded' | 'failed'>('text'),
    failure_reason: 'text?',
    tx_hash: 'text?',
    requested_by: 'text',
    created: 'timestamptz',
    updated: 'timestamptz',
  },
  { contract_version: 'int' },
);

export type GoLiveRow = Row<typeof goLiveRequests>;

export async function selectGoLive(sql: Sql, tenant: Tenant): Promise<GoLiveRow | undefined> {
  return goLiveRequests.find(
    sql,
    `where account_id = $1 and livemode = $2
     order by created desc, id desc limit 1`,
    [tenant.accountId, tenant.livemode],
  );
}

/** Ends the pending attempt that was started in the dashboard, if any. */
export async function updateGoLiveEnded(
  tx: Tx,
  { accountId, livemode }: Tenant,
  end: Pick<GoLiveRow, 'status' | 'failure_reason' | 'tx_hash' | 'updated'>,
): Promise<GoLiveRow | undefined> {
  const { status, failure_reason, tx_hash, updated } = end;
  const set = { status, failure_reason, tx_hash, updated };
  const where = "account_id = $1 and livemode = $2 and status = 'pending'";
  return (await goLiveRequests.update(tx, set, { where, values: [accountId, livemode] }))[0];
}

/**
 * Switches the account to the contract that has just registered it, where it now takes payments in
 * this mode. Its earlier registration stays recorded. Intents up to the current position in its
 * order still settle on the previous contract, and payments made there are refunded and withdrawn
 * there.
 */
export async function updateLive(
  tx: Tx,
  change: {
    readonly tenant: Tenant;
    readonly merchantNumber: string;
    /** `null` keeps the stored one. */
    readonly wallet: string | null;
    readonly now: Date;
  },
): Promise<void> {
  const { accountId, livemode } = change.tenant;
  // Locks the row, so that no intent gets a position in the order until the commit.
  await tx.query('select from account_modes where account_id = $1 and livemode = $2 for update', [
    accountId,
    livemode,
  ]);
  await tx.query(
    `insert into former_merchants (livemode, merchant_number, account_id, settlement_wallet,
       until_position, moved_at)
     select livemode, merchant_number, account_id, settlement_wallet, position, $4
     from account_modes where account_id = $1 and livemode = $2 and merchant_number < $3`,
    [accountId, livemode, change.merchantNumber, change.now],
  );
  await tx.query(
    `update account_modes set merchant_number = $3, live_at = coalesce(live_at, $4),
       settlement_wallet = coalesce($5, settlement_wallet)
     where account_id = $1 and livemode = $2
       and (merchant_number is null or merchant_number < $3)`,
    [accountId, livemode, change.merchantNumber, change.now, change.wallet],
  );
}

/** Returns those of the given merchant numbers that no account has or ever had. */
export async function selectUnknownMerchants(
  sql: Sql,
  livemode: boolean,
  numbers: readonly bigint[],
): Promise<bigint[]> {
  const rows = await sql.query<{ number: bigint }>(
    `select number from unnest($2::bigint[]) as t (number)
     where not exists (select from merchant_accounts m
       where m.livemode = $1 and m.merchant_number = number)`,
    [livemode, numbers.map(String)],
  );
  return rows.map((row) => row.number);
}

/** Returns the wallets that an owner has named for the account's money, in lowercase. */
export async function selectNamedWallets(sql: Sql, tenant: Tenant): Promise<string[]> {
  const rows = await sql.query<{ wallet: string }>(
    `select lower(settlement_wallet) as wallet from account_modes
     where account_id = $1 and livemode = $2 and settlement_wallet is not null
     union
     select lower(wallet) from go_live_requests where account_id = $1 and livemode = $2`,
    [tenant.accountId, tenant.livemode],
  );
  return rows.map((row) => row.wallet);
}

export const goLivePreparations = table(
  'go_live_preparations',
  {
    wallet: 'text',
    /** Unix seconds, after which the signature is invalid. */
    deadline: as<number>('bigint'),
    signature: as<Hex>('text'),
    prepared_by: 'text',
    created: 'timestamptz',
  },
  { account_id: 'text', livemode: 'boolean' },
);

export type PreparationRow = Row<typeof goLivePreparations>;

/** Stores a signed consent, replacing the previous one. */
export async function replacePreparation(
  tx: Tx,
  { accountId, livemode }: Tenant,
  preparation: PreparationRow,
): Promise<void> {
  await goLivePreparations.upsert(
    tx,
    { account_id: accountId, livemode, ...preparation },
    `on conflict (account_id, livemode) do update
     set wallet = excluded.wallet, deadline = excluded.deadline, signature = excluded.signature,
       prepared_by = excluded.prepared_by, created = excluded.created`,
  );
}

/** Returns the prepared wallet that an owner can still confirm. */
export async function selectPreparation(
  sql: Sql,
  filter: { readonly tenant: Tenant; readonly now: Date },
): Promise<PreparationRow | undefined> {
  const row = await goLivePreparations.find(
    sql,
    'where account_id = $1 and livemode = $2 and deadline > $3',
    [filter.tenant.accountId, filter.tenant.livemode, Math.floor(filter.now.getTime() / 1000)],
  );
  return row === undefined ? undefined : { ...row, deadline: Number(row.deadline) };
}

export async function deletePreparation(tx: Tx, tenant: Tenant): Promise<void> {
  await tx.query('delete from go_live_preparations where account_id = $1 and livemode = $2', [
    tenant.accountId,
    tenant.livemode,
  ]);
}
