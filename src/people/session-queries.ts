import type { Sql, Tx } from '#db/database.ts';
import type { Role } from '#people/roles.ts';
import type { Realm, StaffRole } from '#people/user-queries.ts';

export interface NewSessionRow {
  readonly id: string;
  readonly userId: string;
  readonly hash: Buffer;
  readonly level: 'password' | 'full';
  readonly secondFactorAt: Date | null;
  readonly address: string;
  readonly userAgent: string;
  readonly now: Date;
  readonly expiresAt: Date;
}

export async function insertSession(tx: Tx, session: NewSessionRow): Promise<void> {
  await tx.query(
    `insert into sessions (id, user_id, hash, rotated_at, level, second_factor_at, address,
       user_agent, created, last_seen_at, expires_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $4, $4, $9)`,
    [
      session.id,
      session.userId,
      session.hash,
      session.now,
      session.level,
      session.secondFactorAt,
      session.address,
      session.userAgent,
      session.expiresAt,
    ],
  );
}

/** A session with its user, and with the user's role in one account and mode. */
export interface SessionRow {
  readonly id: string;
  readonly user_id: string;
  readonly is_current: boolean;
  readonly has_previous: boolean;
  readonly rotated_at: Date;
  readonly rotation_seen_at: Date | null;
  readonly level: 'password' | 'full';
  readonly second_factor_at: Date | null;
  readonly created: Date;
  readonly last_seen_at: Date;
  readonly expires_at: Date;
  readonly realm: Realm;
  readonly email: string;
  readonly user_name: string;
  readonly user_status: 'active' | 'disabled';
  readonly staff_role: StaffRole;
  readonly factor_trusted_from: Date | null;
  readonly has_factor: boolean;
  readonly role: Role | null;
  readonly account_name: string | null;
  readonly account_status: 'active' | 'disabled' | null;
  readonly kyb_status: string | null;
  readonly merchant_number: bigint | null;
  /** True if the account takes real money; `null` without an account. */
  readonly account_is_live: boolean | null;
}

export async function selectSession(
  sql: Sql,
  wanted: { readonly hash: Buffer; readonly accountId: string | null; readonly livemode: boolean },
): Promise<SessionRow | undefined> {
  const rows = await sql.query<SessionRow>(
    `select s.id, s.user_id, s.hash = $1 as is_current, s.previous_hash is not null as has_previous,
       s.rotated_at, s.rotation_seen_at, s.level, s.second_factor_at, s.created, s.last_seen_at,
       s.expires_at, u.realm, u.email, u.name as user_name, u.status as user_status,
       u.staff_role, u.factor_trusted_from, m.role,
       (u.totp_confirmed_at is not null
         or exists (select from passkeys p where p.user_id = u.id)) as has_factor,
       a.name as account_name, a.status as account_status, a.kyb_status, am.merchant_number,
       (select live.live_at is not null from account_modes live
        where live.account_id = m.account_id and live.livemode) as account_is_live
     from sessions s
     join users u on u.id = s.user_id
     left join memberships m on m.user_id = s.user_id and m.account_id = $2
     left join accounts a on a.id = m.account_id
     left join account_modes am on am.account_id = m.account_id and am.livemode = $3
     where s.hash = $1 or s.previous_hash = $1`,
    [wanted.hash, wanted.accountId, wanted.livemode],
  );
  return rows[0];
}

/** True if a session still has access to an account; for connections that stay open. */
export async function selectStillMember(
  sql: Sql,
  wanted: { readonly sessionId: string; readonly accountId: string; readonly now: Date },
): Promise<boolean> {
  const rows = await sql.query(
    `select 1 as still from sessions s
     join users u on u.id = s.user_id
     join memberships m on m.user_id = s.user_id and m.account_id = $2
     where s.id = $1 and s.level = 'full' and s.expires_at > $3 and u.status = 'active'`,
    [wanted.sessionId, wanted.accountId, wanted.now],
  );
  return rows.length === 1;
}

export async function updateSeen(
  sql: Sql,
  change: { readonly id: string; readonly now: Date; readonly rotationSeen: boolean },
): Promise<void> {
  await sql.query(
    `update sessions set last_seen_at = greatest(last_seen_at, $2),
       rotation_seen_at = case when $3 then coalesce(rotation_seen_at, $2)
         else rotation_seen_at end
     where id = $1`,
    [change.id, change.now, change.rotationSeen],
  );
}

/** Gives the session a new token unless another request just did. */
export async function updateToken(
  sql: Sql,
  change: { readonly id: string; readonly from: Date; readonly hash: Buffer; readonly now: Date },
): Promise<boolean> {
  const rows = await sql.query(
    `update sessions
     set previous_hash = case when rotation_seen_at is null and previous_hash is not null
         then previous_hash else hash end,
       hash = $3, rotated_at = $4, rotation_seen_at = null
     where id = $1 and rotated_at = $2 returning id`,
    [change.id, change.from, change.hash, change.now],
  );
  return rows.length === 1;
}

/** A strengthened session gets a new token at once; the old one becomes invalid. */
export async function updateStrength(
  tx: Tx,
  change: {
    readonly id: string;
    readonly hash: Buffer;
    readonly now: Date;
    readonly expiresAt: Date;
  },
): Promise<void> {
  await tx.query(
    `update sessions set level = 'full', second_factor_at = $3, hash = $2, previous_hash = null,
       rotated_at = $3, rotation_seen_at = null, last_seen_at = $3, expires_at = $4
     where id = $1`,
    [change.id, change.hash, change.now, change.expiresAt],
  );
}

export interface OwnSessionRow {
  readonly id: string;
  readonly address: string;
  readonly user_agent: string;
  readonly created: Date;
  readonly last_seen_at: Date;
  readonly expires_at: Date;
}

export async function selectSessionsOf(
  sql: Sql,
  wanted: { readonly userId: string; readonly now: Date },
): Promise<OwnSessionRow[]> {
  return sql.query(
    `select id, address, user_agent, created, last_seen_at, expires_at from sessions
     where user_id = $1 and level = 'full' and expires_at > $2 order by last_seen_at desc, id`,
    [wanted.userId, wanted.now],
  );
}

export async function deleteSession(
  sql: Sql,
  which: { readonly id: string; readonly userId: string },
): Promise<boolean> {
  const rows = await sql.query('delete from sessions where id = $1 and user_id = $2 returning id', [
    which.id,
    which.userId,
  ]);
  return rows.length === 1;
}

/** Signs the user out everywhere, except from `exceptId` if it is given. */
export async function deleteSessionsOf(
  sql: Sql,
  which: { readonly userId: string; readonly exceptId: string | null },
): Promise<number> {
  const rows = await sql.query(
    `delete from sessions where user_id = $1 and ($2::text is null or id <> $2) returning id`,
    [which.userId, which.exceptId],
  );
  return rows.length;
}

export async function deleteExpiredSessions(sql: Sql, now: Date, limit: number): Promise<number> {
  const rows = await sql.query(
    `delete from sessions where id in
       (select id from sessions where expires_at <= $1 order by expires_at limit $2)
     returning id`,
    [now, limit],
  );
  return rows.length;
}
