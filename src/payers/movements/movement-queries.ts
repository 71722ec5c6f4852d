import type { Sql, Tx } from '#db/database.ts';
import type { Place } from '#db/paging.ts';
import { as, type Row, table } from '#db/table.ts';
import type { MovementType } from '#payers/movements/movements-in-logs.ts';

export const walletMovements = table('wallet_movements', {
  payer_id: 'text',
  created: 'timestamptz',
  position: 'bigint',
  id: 'text',
  type: as<MovementType>('text'),
  tx_hash: 'text?',
  address: 'text?',
  number: 'bigint?',
  amount: 'bigint',
  unsettled: 'bigint',
  fee: 'bigint',
  pending: 'boolean',
});

export type MovementRow = Row<typeof walletMovements>;

export const walletReads = table('wallet_reads', {
  payer_id: 'text',
  start_block: 'bigint',
  next_block: 'bigint',
  last_hash: 'text?',
  unread: as<readonly (readonly [number, number])[]>('jsonb'),
  since_block: 'bigint',
  since: 'timestamptz',
  as_of: 'timestamptz',
  day: 'text',
  requests: 'int',
  version: 'int',
});

export type WalletReadRow = Row<typeof walletReads>;

export async function selectWalletRead(
  sql: Sql,
  payerId: string,
): Promise<WalletReadRow | undefined> {
  return walletReads.find(sql, 'where payer_id = $1', [payerId]);
}

/** Counts requests of a reading that failed. */
export async function addReadRequests(
  sql: Sql,
  {
    payerId,
    day,
    requests,
  }: { readonly payerId: string; readonly day: string; readonly requests: number },
): Promise<void> {
  await sql.query(
    `update wallet_reads
     set requests = $3 + case when day = $2 then requests else 0 end, day = $2
     where payer_id = $1`,
    [payerId, day, requests],
  );
}

/**
 * Stores how far the chain was read; false if another reading was stored since this one began.
 * @param before the version that this reading began with; `null` for the wallet's first one
 */
export async function storeRead(
  tx: Tx,
  row: WalletReadRow,
  before: number | null,
): Promise<boolean> {
  if (before === null) {
    return (await walletReads.upsert(tx, row, 'on conflict (payer_id) do nothing')) !== undefined;
  }
  const which = { where: 'payer_id = $1 and version = $2', values: [row.payer_id, before] };
  return (await walletReads.update(tx, row, which)).length === 1;
}

/** Positions below it are of folded transfers, which have no log index. */
const FIRST_OF_BLOCK_1 = 1n << 20n;

export function positionOf(place: { readonly blockNumber: bigint; readonly logIndex: number }) {
  return place.blockNumber * FIRST_OF_BLOCK_1 + BigInt(place.logIndex);
}

/** Deletes what the blocks from this one on contained; all movements if it is `null`. */
export async function deleteMovementsFrom(
  tx: Tx,
  { payerId, block }: { readonly payerId: string; readonly block: bigint | null },
): Promise<void> {
  await tx.query(
    `delete from wallet_movements where payer_id = $1
       and ($2::bigint is null or position >= $2 or amount = 0)`,
    [payerId, block === null ? null : positionOf({ blockNumber: block, logIndex: 0 })],
  );
  await tx.query(
    `update wallet_movements set unsettled = 0, pending = false
     where payer_id = $1 and unsettled > 0`,
    [payerId],
  );
}

/** Inserts movements, or adds them to those that are folded already. */
export async function insertMovements(tx: Tx, rows: readonly MovementRow[]): Promise<void> {
  await walletMovements.insertAll(
    tx,
    rows,
    `on conflict (payer_id, created, position) do update
     set amount = wallet_movements.amount + excluded.amount,
       unsettled = wallet_movements.unsettled + excluded.unsettled,
       pending = wallet_movements.pending or excluded.pending
     where excluded.position < ${FIRST_OF_BLOCK_1}`,
  );
}

export type ShownMovement = MovementRow & {
  /** `null` if the service knows no such payment. */
  readonly payment_id: string | null;
  readonly merchant_name: string | null;
};

/** Returns a page of a wallet's movements, newest first, plus one row if there are more. */
export async function selectMovements(
  sql: Sql,
  payer: { readonly id: string; readonly livemode: boolean },
  page: { readonly limit: number; readonly after: Place | null },
): Promise<ShownMovement[]> {
  return sql.query(
    `select ${walletMovements.of('m')}, p.id as payment_id, a.name as merchant_name
     from wallet_movements m
     left join payments p on p.livemode = $2 and p.settlement_number = m.number
     left join accounts a on a.id = p.account_id
     where m.payer_id = $1 and (m.created, m.position) < ($3, $4)
     order by m.created desc, m.position desc limit $5`,
    [
      ...[payer.id, payer.livemode],
      ...[page.after?.created ?? 'infinity', page.after?.position ?? 0n, page.limit + 1],
    ],
  );
}
