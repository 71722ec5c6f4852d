import type { Sql, Tx } from '#db/database.ts';
import { as, type Row, table } from '#db/table.ts';

export const payerRequests = table('payer_requests', {
  id: 'text',
  payer_id: 'text',
  kind: as<'enrolment' | 'faucet' | 'transfer'>('text'),
  status: as<'pending' | 'succeeded' | 'failed'>('text'),
  failure_code: 'text?',
  tx_hash: 'text?',
  created: 'timestamptz',
  updated: 'timestamptz',
});

export type PayerRequestRow = Row<typeof payerRequests>;

export async function selectPayerRequests(
  sql: Sql,
  ids: readonly string[],
): Promise<PayerRequestRow[]> {
  return payerRequests.list(sql, 'where id = any($1)', [ids]);
}

export async function countPendingRequests(
  tx: Tx,
  filter: { readonly payerId: string; readonly kind: PayerRequestRow['kind'] },
): Promise<number> {
  return payerRequests.count(tx, `where payer_id = $1 and kind = $2 and status = 'pending'`, [
    filter.payerId,
    filter.kind,
  ]);
}

export type RequestOutcome = Pick<PayerRequestRow, 'id' | 'failure_code' | 'tx_hash'> & {
  readonly status: 'succeeded' | 'failed';
};

/** Requests of demo data have no row here and are skipped. */
export async function updatePayerRequests(
  tx: Tx,
  outcomes: readonly RequestOutcome[],
  now: Date,
): Promise<void> {
  await tx.query(
    `update payer_requests r
     set status = o.status, failure_code = o.failure_code, tx_hash = o.tx_hash, updated = $2
     from jsonb_to_recordset($1::jsonb) as o
       (id text, status text, failure_code text, tx_hash text)
     where r.id = o.id and r.status = 'pending'`,
    [JSON.stringify(outcomes), now],
  );
}

export const payerTransfers = table('payer_transfers', {
  payer_id: 'text',
  nonce: 'text',
  request_id: 'text',
  created: 'timestamptz',
});

type TransferRow = Row<typeof payerTransfers>;

export async function selectTransfer(
  sql: Sql,
  { payer_id, nonce }: Pick<TransferRow, 'payer_id' | 'nonce'>,
): Promise<TransferRow | undefined> {
  return payerTransfers.find(sql, 'where payer_id = $1 and nonce = $2', [payer_id, nonce]);
}

export async function countTransfersSince(
  sql: Sql,
  filter: { readonly payerId: string; readonly since: Date },
): Promise<number> {
  return payerTransfers.count(sql, 'where payer_id = $1 and created >= $2', [
    filter.payerId,
    filter.since,
  ]);
}
