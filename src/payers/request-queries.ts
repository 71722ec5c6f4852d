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
  wanted: { readonly payerId: string; readonly kind: PayerRequestRow['kind'] },
): Promise<number> {
  return payerRequests.count(tx, `where payer_id = $1 and kind = $2 and status = 'pending'`, [
    wanted.payerId,
    wanted.kind,
  ]);
}

export interface RequestOutcome {
  readonly id: string;
  readonly status: 'succeeded' | 'failed';
  readonly failure_code: string | null;
  readonly tx_hash: string | null;
}

/** Stores results of requests. Requests of demo data have no row here and are skipped. */
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

/** Returns the wallet's transfer with this nonce; `null` if there is none. */
export async function selectTransfer(
  sql: Sql,
  wanted: { readonly payerId: string; readonly nonce: string },
): Promise<{ request_id: string } | null> {
  const rows = await sql.query<{ request_id: string }>(
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
