import type { Sql } from '#db/database.ts';

/** An entry of a queue, with IDs that lead staff to its cause. */
export interface QueueEntryRow {
  readonly id: string;
  readonly payment_intent: string | null;
  readonly account: string | null;
  readonly livemode: boolean | null;
  readonly since: Date;
  /** The number of attempts and the last response, as text. */
  readonly note: string | null;
}

/** Maximum number of rows. The oldest rows are enough to find a cause. */
const OLDEST = 50;

/**
 * The statements that read the entries of a queue, for those queues of `GET /queues` that have any.
 */
const STATEMENTS = {
  'webhook deliveries': `
    select id, null as payment_intent, account_id as account, livemode, created as since,
      event_type || ', attempt ' || attempt ||
        coalesce(', HTTP ' || response_status, ', ' || error, '') as note
    from webhook_due order by created limit $1`,
  mails: `
    select id::text, null as payment_intent, null as account, null::boolean as livemode,
      created as since, attempts || ' attempts' as note
    from mail_outbox where sent_at is null and failed_at is null order by created limit $1`,
  'mails given up': `
    select id::text, null as payment_intent, null as account, null::boolean as livemode,
      created as since, attempts || ' attempts' as note
    from mail_outbox where failed_at is not null order by created limit $1`,
  withdrawals: `
    select id, null as payment_intent, account_id as account, livemode, created as since,
      null as note
    from withdrawals where status = 'pending' order by created limit $1`,
  refunds: `
    select r.id, p.payment_intent_id as payment_intent, r.account_id as account, r.livemode,
      r.created as since, q.blocked_by as note
    from refunds r join payments p on p.id = r.payment_id
    left join chain_requests q on q.kind = 'refund' and q.subject_id = r.id
      and q.status in ('queued', 'submitted', 'succeeded')
    where r.status = 'pending' order by r.created limit $1`,
} as const;

export type QueueName = keyof typeof STATEMENTS;
export const QUEUE_NAMES = Object.keys(STATEMENTS) as QueueName[];

export async function selectQueueEntries(sql: Sql, queue: QueueName): Promise<QueueEntryRow[]> {
  return sql.query(STATEMENTS[queue], [OLDEST]);
}

export async function selectWaitingRequests(
  sql: Sql,
  filter: {
    readonly livemode: boolean;
    readonly kind: string;
    readonly status: 'queued' | 'submitted' | 'answered';
  },
): Promise<QueueEntryRow[]> {
  const { livemode, kind, status } = filter;
  const statuses = status === 'answered' ? ['succeeded', 'failed'] : [status];
  return sql.query(
    `select r.subject_id as id, coalesce(i.id, p.payment_intent_id) as payment_intent,
       coalesce(i.account_id, f.account_id, w.account_id) as account, r.livemode,
       r.created as since,
       coalesce(r.blocked_by, case when r.tries > 0 then r.tries || ' tries' end) as note
     from (
       select * from chain_requests
       where livemode = $1 and kind = $2 and status = any($3)
         and (status in ('queued', 'submitted') or applied_at is null)
       order by id limit $4
     ) r
     left join payment_intents i on r.kind = 'payment' and i.id = r.subject_id
     left join refunds f on r.kind = 'refund' and f.id = r.subject_id
     left join payments p on p.id = f.payment_id
     left join withdrawals w on r.kind = 'withdrawal' and w.id = r.subject_id
     order by r.id`,
    [livemode, kind, statuses, OLDEST],
  );
}
