import type { Sql, Tx } from '#db/database.ts';
import { as, type Joined, type Row, table } from '#db/table.ts';
import { deletingExpired } from '#people/expired-queries.ts';
import { memberships, TWO_FACTOR } from '#people/membership-queries.ts';
import { highestRole, type Role } from '#people/role-order.ts';
import { users } from '#people/user-queries.ts';

export const sessions = table(
  'sessions',
  {
    id: 'text',
    user_id: 'text',
    rotated_at: 'timestamptz',
    rotation_seen_at: 'timestamptz?',
    level: as<'password' | 'full'>('text'),
    second_factor_at: 'timestamptz?',
    created: 'timestamptz',
    last_seen_at: 'timestamptz',
    expires_at: 'timestamptz',
  },
  { hash: 'bytea', address: 'text', user_agent: 'text' },
);

const USER = users.pick(
  {
    realm: 'realm',
    email: 'email',
    user_name: 'name',
    user_status: 'status',
    staff_role: 'staff_role',
    factor_trusted_from: 'factor_trusted_from',
  },
  'u',
);
const ROLE = memberships.pick(['role'], 'm');
interface SessionFacts {
  is_current: boolean;
  has_previous: boolean;
  has_factor: boolean;
  /** The role in the requested organization, or in the organization of the requested account. */
  organization_role: Role | null;
  account_name: string | null;
  account_status: 'active' | 'disabled' | null;
  kyb_status: string | null;
  merchant_number: bigint | null;
  /**
   * True if the requested account, or one of the requested organization's, is live. `null` if
   * neither was requested.
   */
  account_is_live: boolean | null;
}

/**
 * A session with its user and the user's role in an account or an organization. An organization's
 * role also counts in its accounts; the higher role applies.
 */
export type SessionRow = Row<typeof sessions> &
  Row<typeof USER> &
  Joined<Row<typeof ROLE>> &
  SessionFacts;

export async function selectSession(
  sql: Sql,
  filter: {
    readonly hash: Buffer;
    readonly accountId: string | null;
    readonly organizationId: string | null;
    readonly livemode: boolean;
  },
): Promise<SessionRow | undefined> {
  const rows = await sql.query<SessionRow>(
    `select ${sessions.of('s')}, ${USER}, ${ROLE}, o.role as organization_role,
       a.name as account_name, a.status as account_status, a.kyb_status, am.merchant_number,
       s.hash = $1 as is_current, s.previous_hash is not null as has_previous,
       ${TWO_FACTOR} as has_factor,
       (select bool_or(live.live_at is not null) from account_modes live
        where live.livemode and live.account_id = any(array(
          select a.id union all
          select id from accounts where organization_id = $4))) as account_is_live
     from sessions s
     join users u on u.id = s.user_id
     left join accounts a on a.id = $2
     left join memberships m on m.user_id = s.user_id and m.account_id = a.id
     left join organization_members o on o.user_id = s.user_id
       and o.organization_id = coalesce($4, a.organization_id)
     left join account_modes am on am.account_id = a.id and am.livemode = $3
     where s.hash = $1 or s.previous_hash = $1`,
    [filter.hash, filter.accountId, filter.livemode, filter.organizationId],
  );
  const [row] = rows;
  return row && { ...row, role: highestRole([row.role, row.organization_role]) };
}

/** A session, and the account or organization in which its user has a role. */
export interface HeldRole {
  readonly sessionId: string;
  readonly accountId: string | null;
  readonly organizationId: string | null;
}

/**
 * Returns the current role for each of these, in their order; `null` if the session or the role has
 * ended. Checked regularly for responses in progress.
 */
export async function selectCurrentRoles(
  sql: Sql,
  all: readonly HeldRole[],
  now: Date,
): Promise<(Role | null)[]> {
  const rows = await sql.query<{ n: bigint; role: Role | null; organization_role: Role | null }>(
    `select w.n, m.role, o.role as organization_role
     from unnest($1::text[], $2::text[], $3::text[]) with ordinality
       as w (session_id, account_id, organization_id, n)
     join sessions s on s.id = w.session_id and s.level = 'full' and s.expires_at > $4
     join users u on u.id = s.user_id and u.status = 'active'
     left join accounts a on a.id = w.account_id
     left join memberships m on m.user_id = s.user_id and m.account_id = a.id
     left join organization_members o on o.user_id = s.user_id
       and o.organization_id = coalesce(w.organization_id, a.organization_id)`,
    [
      all.map(({ sessionId }) => sessionId),
      all.map(({ accountId }) => accountId),
      all.map(({ organizationId }) => organizationId),
      now,
    ],
  );
  const roles = new Map(
    rows.map((row) => [Number(row.n), highestRole([row.role, row.organization_role])]),
  );
  return all.map((_, n) => roles.get(n + 1) ?? null);
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

/** Gives the session a new token. @returns false if a concurrent request has just done so. */
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

/** Gives a session full rights and a new token, after a second factor. The old token ends. */
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

const OWN_SESSION = sessions.pick([
  'id',
  'address',
  'user_agent',
  'created',
  'last_seen_at',
  'expires_at',
]);

export type OwnSessionRow = Row<typeof OWN_SESSION>;

export async function selectSessionsOf(
  sql: Sql,
  filter: { readonly userId: string; readonly now: Date },
): Promise<OwnSessionRow[]> {
  return sql.query(
    `select ${OWN_SESSION} from sessions
     where user_id = $1 and level = 'full' and expires_at > $2 order by last_seen_at desc, id`,
    [filter.userId, filter.now],
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

export const deleteExpiredSessions = deletingExpired('sessions', {
  key: 'id',
  expired: 'expires_at <= $1 order by expires_at',
});
