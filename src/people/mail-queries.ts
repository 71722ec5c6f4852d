import type { Sql, Tx } from '#db/database.ts';

export interface WaitingMail {
  readonly id: bigint;
  readonly context: string;
  readonly sealed: Buffer;
  readonly attempts: number;
}

export async function insertMail(
  tx: Tx,
  mail: { readonly context: string; readonly sealed: Buffer; readonly now: Date },
): Promise<void> {
  await tx.query(
    'insert into mail_outbox (context, sealed, created, due_at) values ($1, $2, $3, $3)',
    [mail.context, mail.sealed, mail.now],
  );
}

/** Leases the due mails until `again`. Then another worker may take those that are still unsent. */
export async function claimMails(
  sql: Sql,
  filter: { readonly now: Date; readonly again: Date; readonly limit: number },
): Promise<WaitingMail[]> {
  return sql.query(
    `update mail_outbox set due_at = $2, attempts = attempts + 1
     where id = any(array(
       select id from mail_outbox where sent_at is null and failed_at is null and due_at <= $1
       order by due_at limit $3 for update skip locked))
     returning id, context, sealed, attempts`,
    [filter.now, filter.again, filter.limit],
  );
}

/** Records that a mail was sent, and deletes its text, which may contain a secret link. */
export async function markSent(sql: Sql, id: bigint, now: Date): Promise<void> {
  await sql.query('update mail_outbox set sent_at = $2, sealed = null where id = $1', [id, now]);
}

export async function postponeMail(sql: Sql, id: bigint, dueAt: Date): Promise<void> {
  await sql.query('update mail_outbox set due_at = $2 where id = $1', [id, dueAt]);
}

export async function markUnsendable(sql: Sql, id: bigint, now: Date): Promise<void> {
  await sql.query('update mail_outbox set failed_at = $2, sealed = null where id = $1', [id, now]);
}

/** Deletes finished mails, sent or failed, among the `limit` oldest. @returns how many. */
export async function deleteSentMails(sql: Sql, before: Date, limit: number): Promise<number> {
  const rows = await sql.query(
    `delete from mail_outbox where id = any(array(
       select id from (
         select id, created, sent_at, failed_at from mail_outbox
         where (select created from mail_outbox order by id limit 1) <= $1
         order by id limit $2) oldest
       where created <= $1 and (sent_at is not null or failed_at is not null)))
     returning id`,
    [before, limit],
  );
  return rows.length;
}
