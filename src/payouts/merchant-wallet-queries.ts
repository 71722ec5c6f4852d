import type { Sql, Tx } from '#db/database.ts';

// Rows that mirror the wallets of merchants on the contracts. The contract is authoritative;
// `follow-wallets.ts` updates the rows.

/** A merchant's number on one contract, and its wallets according to the ledger. */
export interface KnownWalletRow {
  readonly merchant_number: bigint;
  readonly account_id: string;
  readonly wallet: string | null;
  /** The announced wallet; `null` if there is none. */
  readonly announced: string | null;
  readonly applicable_at: Date | null;
  /** The newest block that the rows reflect. */
  readonly block_number: bigint | null;
}

/** Returns the known wallets of the network's merchants: of all, or of these numbers. */
export async function selectKnownWallets(
  sql: Sql,
  filter: { readonly livemode: boolean; readonly merchantNumbers: readonly bigint[] | null },
): Promise<KnownWalletRow[]> {
  return sql.query<KnownWalletRow>(
    `select m.merchant_number, m.account_id, m.settlement_wallet as wallet,
       w.wallet as announced, w.applicable_at, b.block_number
     from merchant_accounts m
     left join wallet_changes w on w.account_id = m.account_id and w.livemode = m.livemode
       and w.status = 'announced'
       and coalesce(w.merchant_number, m.merchant_number) = m.merchant_number
     left join merchant_wallet_blocks b
       on b.livemode = m.livemode and b.merchant_number = m.merchant_number
     where m.livemode = $1 and ($2::bigint[] is null or m.merchant_number = any($2))
     order by m.merchant_number`,
    [filter.livemode, filter.merchantNumbers?.map(String) ?? null],
  );
}

interface Place {
  readonly livemode: boolean;
  readonly merchantNumber: bigint;
}

/**
 * Records that the rows now reflect this block.
 * @returns false if they already reflect it or a later one, so that the data just read is not
 * newer.
 */
export async function advanceWalletBlock(
  tx: Tx,
  { livemode, merchantNumber, blockNumber }: Place & { readonly blockNumber: bigint },
): Promise<boolean> {
  const rows = await tx.query(
    `insert into merchant_wallet_blocks as b (livemode, merchant_number, block_number)
     values ($1, $2, $3)
     on conflict (livemode, merchant_number) do update set block_number = excluded.block_number
     where b.block_number < excluded.block_number
     returning block_number`,
    [livemode, merchantNumber, blockNumber],
  );
  return rows.length > 0;
}

/** Updates the wallet on the account's current contract or on a previous one. */
export async function updateSettlementWallet(
  tx: Tx,
  { livemode, merchantNumber, wallet }: Place & { readonly wallet: string },
): Promise<void> {
  await tx.query(
    `with present as (
       update account_modes set settlement_wallet = $3
       where livemode = $1 and merchant_number = $2
     )
     update former_merchants set settlement_wallet = $3
     where livemode = $1 and merchant_number = $2`,
    [livemode, merchantNumber, wallet],
  );
}
