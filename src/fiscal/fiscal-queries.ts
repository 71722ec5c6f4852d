import type { Sql, Tx } from '#db/database.ts';
import { OF_SALE, UNSIGNED, type UnsignedReceipt } from '#fiscal/signature-request.ts';

export interface Receipted {
  /** The payment or the refund. */
  readonly subjectId: string;
  readonly paymentId: string;
  readonly tenant: { readonly accountId: string; readonly livemode: boolean };
  readonly receiptNumber: string | null;
}

/**
 * Requests signatures for receipts of accounts that have a signer. Call it in the transaction that
 * books the payments or refunds, after writing them.
 * @returns the number of requests.
 */
export async function insertFiscalReceipts(
  tx: Tx,
  receipted: readonly Receipted[],
  now: Date,
): Promise<number> {
  const numbered = receipted.filter(({ receiptNumber }) => receiptNumber !== null);
  if (numbered.length === 0) return 0;
  const rows = await tx.query(
    `insert into fiscal_receipts
       (subject_id, payment_id, account_id, livemode, terminal_id, receipt_number, created, due_at)
     select t.subject_id, p.id, t.account_id, t.livemode, p.terminal_id, t.receipt_number, $6,
       case when not a.fiscal_by_terminal then $6::timestamptz end
     from unnest($1::text[], $2::text[], $3::text[], $4::boolean[], $5::text[])
       as t (subject_id, payment_id, account_id, livemode, receipt_number)
     join accounts a on a.id = t.account_id
     join payments p on p.id = t.payment_id
     where a.fiscal_signer is not null
     returning 1`,
    [
      numbered.map(({ subjectId }) => subjectId),
      numbered.map(({ paymentId }) => paymentId),
      numbered.map(({ tenant }) => tenant.accountId),
      numbered.map(({ tenant }) => tenant.livemode),
      numbered.map(({ receiptNumber }) => receiptNumber),
      now,
    ],
  );
  return rows.length;
}

/** A receipt that a worker must send now. */
export interface DueReceipt extends UnsignedReceipt {
  /** Number of attempts, including this one. */
  readonly attempts: number;
}

/**
 * Claims due receipts, oldest first. If this process dies before it records a response, the
 * receipts become due again at `again`.
 */
export async function takeDueReceipts(
  sql: Sql,
  filter: {
    readonly now: Date;
    readonly again: Date;
    readonly limit: number;
    /** Accounts whose signer already has the maximum number of requests in flight. */
    readonly except: readonly string[];
  },
): Promise<DueReceipt[]> {
  return sql.query(
    `with taken as (
       update fiscal_receipts f set attempts = f.attempts + 1, due_at = $2
       from (
         select subject_id from fiscal_receipts
         where due_at <= $1 and not account_id = any($4)
         order by due_at limit $3 for update skip locked
       ) due
       where f.subject_id = due.subject_id
       returning f.*
     )
     select ${UNSIGNED}, t.attempts
     from taken t
     join accounts a on a.id = t.account_id
       and a.fiscal_signer is not null and not a.fiscal_by_terminal
     ${OF_SALE}`,
    [filter.now, filter.again, filter.limit, filter.except],
  );
}

/** Stores the first signature of a receipt. Later responses change nothing. */
export async function updateSigned(
  sql: Sql,
  subjectId: string,
  signed: { readonly signature: string; readonly text: string | null; readonly now: Date },
): Promise<void> {
  await sql.query(
    `update fiscal_receipts
     set signature = $2, text = $3, signed_at = $4, due_at = null, last_error = null
     where subject_id = $1 and signature is null`,
    [subjectId, signed.signature, signed.text, signed.now],
  );
}

/** Only the newest attempt sets when the receipt is due again. */
export async function updateUnsigned(
  sql: Sql,
  { subject_id: subjectId, attempts }: DueReceipt,
  failed: { readonly error: string; readonly dueAt: Date | null },
): Promise<void> {
  await sql.query(
    `update fiscal_receipts set due_at = $3, last_error = $4
     where subject_id = $1 and attempts = $2 and signature is null`,
    [subjectId, attempts, failed.dueAt, failed.error],
  );
}

/**
 * Makes an account's unsigned receipts due at this time; with `null`, never, because it no longer
 * has a signer.
 */
export async function rescheduleUnsigned(
  tx: Tx,
  accountId: string,
  dueAt: Date | null,
): Promise<void> {
  await tx.query(
    `update fiscal_receipts set due_at = $2, attempts = 0
     where account_id = $1 and signature is null`,
    [accountId, dueAt],
  );
}

/** The response of a receipt's signer. Both fields are `null` until it responds. */
export interface Fiscal {
  readonly signature: string | null;
  readonly text: string | null;
}

/**
 * Returns the signers' responses by payment or refund ID. Receipts without a signer are omitted.
 */
export async function selectFiscal(
  sql: Sql,
  subjectIds: readonly string[],
): Promise<ReadonlyMap<string, Fiscal>> {
  const rows = await sql.query<Fiscal & { subject_id: string }>(
    'select subject_id, signature, text from fiscal_receipts where subject_id = any($1)',
    [subjectIds],
  );
  return new Map(rows.map(({ subject_id, signature, text }) => [subject_id, { signature, text }]));
}
