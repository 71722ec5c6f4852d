import { addSeconds } from '#core/clock.ts';
import type { Sql } from '#db/database.ts';

/** A browser to notify, and the time after which the notification is useless. */
export interface DuePush {
  readonly session_hash: Buffer;
  readonly endpoint: string;
  readonly until: Date;
  readonly livemode: boolean;
}

const DUE_FIELDS = `p.session_hash, p.endpoint,
  (select livemode from payers y where y.id = p.payer_id) as livemode`;

/**
 * Claims up to `limit` browsers whose payer must confirm and was not notified yet. Each is claimed
 * once, by the process that updates `rung_until`.
 */
export async function takeDuePushes(sql: Sql, now: Date, limit: number): Promise<DuePush[]> {
  return sql.query<DuePush>(
    `with asked as (
       select attempt ->> 'payerId' as payer_id, max(confirm_by) as until
       from payment_intents where status = 'requires_action' and confirm_by > $1
       group by attempt ->> 'payerId'
     ), due as (
       select p.session_hash, a.until
       from asked a join payer_pushes p on p.payer_id = a.payer_id
       where coalesce(p.rung_until < a.until, true)
       limit $2 for update of p skip locked
     )
     update payer_pushes p set rung_until = d.until
     from due d where p.session_hash = d.session_hash
     returning ${DUE_FIELDS}, d.until`,
    [now, limit],
  );
}

/**
 * Minimum seconds between notifications of taps, so that taps of a copied code do not flood a
 * phone. The next notification covers the taps in between.
 */
const TAPS_APART_S = 10;
/**
 * Maximum age of taps that are notified: a day, so that a phone that was off still learns of them.
 */
const TAP_IS_NEWS_S = 86_400;

/**
 * Claims up to `limit` browsers whose payer has a static pass that was tapped without a
 * confirmation.
 */
export async function takeTappedPushes(sql: Sql, now: Date, limit: number): Promise<DuePush[]> {
  return sql.query<DuePush>(
    `with due as (
       select session_hash from payer_pushes
       where tapped_at is not null and coalesce(notified_at <= $2, true)
       order by tapped_at limit $4 for update skip locked
     )
     update payer_pushes p set tapped_at = null, notified_at = $1
     from due d where p.session_hash = d.session_hash
     returning ${DUE_FIELDS}, $3::timestamptz as until`,
    [now, addSeconds(now, -TAPS_APART_S), addSeconds(now, TAP_IS_NEWS_S), limit],
  );
}

export async function upsertPush(
  sql: Sql,
  made: {
    readonly sessionHash: Buffer;
    readonly payerId: string;
    readonly endpoint: string;
    readonly now: Date;
  },
): Promise<void> {
  await sql.query(
    `insert into payer_pushes (session_hash, payer_id, endpoint, created) values ($1, $2, $3, $4)
     on conflict (session_hash) do update set endpoint = excluded.endpoint,
       refused_at = case when payer_pushes.endpoint = excluded.endpoint
         then payer_pushes.refused_at end`,
    [made.sessionHash, made.payerId, made.endpoint, made.now],
  );
}

export async function deletePush(sql: Sql, sessionHash: Buffer): Promise<void> {
  await sql.query('delete from payer_pushes where session_hash = $1', [sessionHash]);
}

/** True if the push service accepts notifications for the browser of this session. */
export async function isPushed(sql: Sql, sessionHash: Buffer): Promise<boolean> {
  const rows = await sql.query(
    'select from payer_pushes where session_hash = $1 and refused_at is null',
    [sessionHash],
  );
  return rows.length > 0;
}

/**
 * Stores when the push service refused a notification; `null` means that it has accepted one since.
 */
export async function updateRefused(
  sql: Sql,
  sessionHash: Buffer,
  refusedAt: Date | null,
): Promise<void> {
  await sql.query(
    `update payer_pushes set refused_at = $2
     where session_hash = $1 and (refused_at is null) <> ($2::timestamptz is null)`,
    [sessionHash, refusedAt],
  );
}
