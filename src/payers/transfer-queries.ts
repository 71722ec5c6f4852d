import type { Sql, Tx } from '#db/database.ts';

/** A row of payer_transfers, as far as it is read. */
interface TransferRow {
  request_id: string;
}

/** null: this wallet has not handed in an authorization with this nonce. */
export async function selectTransfer(
  sql: Sql,
  wanted: { readonly payerId: string; readonly nonce: string },
): Promise<TransferRow | null> {
  const rows = await sql.query<TransferRow>(
    'select request_id from payer_transfers where payer_id = $1 and nonce = $2',
    [wanted.payerId, wanted.nonce],
  );
  return rows[0] ?? null;
}

export async function insertTransfer(
  tx: Tx,
  transfer: {
    readonly payerId: string;
    readonly nonce: string;
    readonly requestId: string;
    readonly now: Date;
  },
): Promise<void> {
  await tx.query(
    `insert into payer_transfers (payer_id, nonce, request_id, created)
     values ($1, $2, $3, $4)`,
    [transfer.payerId, transfer.nonce, transfer.requestId, transfer.now],
  );
}

export async function countTransfersSince(
  sql: Sql,
  wanted: { readonly payerId: string; readonly since: Date },
): Promise<number> {
  const rows = await sql.query<{ count: number }>(
    `select count(*)::int as count from payer_transfers
     where payer_id = $1 and created >= $2`,
    [wanted.payerId, wanted.since],
  );
  return rows[0]?.count ?? 0;
}
