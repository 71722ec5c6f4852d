import type { StoredShopSum } from '#core/shop-limit.ts';
import type { Sql, Tx } from '#db/database.ts';
import { as, type Row, table } from '#db/table.ts';
import type { PinTries } from '#people/pin-tries.ts';
import { highestRole, liftsLimits, type Role, type TillRole } from '#people/role-order.ts';
import { users } from '#people/user-queries.ts';

export const memberships = table('memberships', {
  account_id: 'text',
  user_id: 'text',
  role: as<Role>('text'),
  created: 'timestamptz',
  version: 'int',
  pin_hash: 'text?',
  pin_id: 'uuid?',
  pin_wrong_at: 'timestamptz[]',
  pin_blocked_until: 'timestamptz?',
  /** Equals `pin_id` if the PIN is known to have six digits or more. */
  long_pin_id: 'uuid?',
  pin_wrong_today: as<PinTries['today']>('jsonb'),
  /** When too many wrong PINs blocked the member, until an admin ends it. */
  pin_locked_at: 'timestamptz?',
  /** `null`: only the account's daily limit. */
  refund_limit: 'bigint?',
  /** The limit in the shop's currency; `null` if it was set in atoms. */
  refund_limit_presentment: as<StoredShopSum | null>('jsonb?'),
  may_discount: 'boolean',
});

const MEMBERSHIP = memberships.pick(
  [
    ...(['user_id', 'role', 'version', 'created'] as const),
    ...(['refund_limit', 'refund_limit_presentment', 'may_discount'] as const),
    ...(['pin_locked_at'] as const),
  ],
  'm',
);
const PERSON = users.pick(['email', 'name'], 'u');

export type MemberRow = Row<typeof MEMBERSHIP> &
  Row<typeof PERSON> & { has_pin: boolean; two_factor: boolean };

/** True if the user (`u`) has a second factor. */
export const TWO_FACTOR = `(u.totp_confirmed_at is not null
    or exists (select from passkeys p where p.user_id = u.id))`;
const MEMBER = `${MEMBERSHIP}, ${PERSON}, m.pin_hash is not null as has_pin,
  ${TWO_FACTOR} as two_factor`;

/** Returns the rights at tills that a new person with this role has. */
export function defaultRights(role: Role | TillRole) {
  const lifts = liftsLimits(role);
  return { refund_limit: lifts ? null : 0n, may_discount: lifts };
}

/** The rights of a person at tills, which follow from the role until they are set. */
interface TillRights {
  readonly role: Role | TillRole;
  readonly refund_limit: bigint | null;
  readonly may_discount: boolean;
}

/** Returns a new role's default for each right that is the default of the role before. */
export function rightsAfter(
  before: TillRights,
  role: Role | TillRole,
): Partial<Omit<TillRights, 'role'>> {
  const [old, next] = [defaultRights(before.role), defaultRights(role)];
  return {
    ...(before.refund_limit === old.refund_limit ? { refund_limit: next.refund_limit } : {}),
    ...(before.may_discount === old.may_discount ? { may_discount: next.may_discount } : {}),
  };
}

export async function insertMembership(
  tx: Tx,
  made: {
    readonly accountId: string;
    readonly userId: string;
    readonly role: Role;
    readonly now: Date;
  },
): Promise<boolean> {
  const { accountId: account_id, userId: user_id, role, now: created } = made;
  const rights = defaultRights(role);
  const row = { account_id, user_id, role, created, ...rights };
  return (await memberships.upsert(tx, row, 'on conflict do nothing')) !== undefined;
}

export async function selectMembers(sql: Sql, accountId: string): Promise<MemberRow[]> {
  return sql.query(
    `select ${MEMBER} from memberships m join users u on u.id = m.user_id
     where m.account_id = $1 order by m.created, m.user_id`,
    [accountId],
  );
}

/** Locks all memberships of the account, so that two owners cannot remove each other. */
export async function lockMembers(tx: Tx, accountId: string): Promise<MemberRow[]> {
  return tx.query(
    `select ${MEMBER} from memberships m join users u on u.id = m.user_id
     where m.account_id = $1 order by m.user_id for update of m`,
    [accountId],
  );
}

export async function deleteMembership(
  tx: Tx,
  which: { readonly accountId: string; readonly userId: string },
): Promise<void> {
  await tx.query('delete from memberships where account_id = $1 and user_id = $2', [
    which.accountId,
    which.userId,
  ]);
}

const OWN_ROLE = memberships.pick(['account_id', 'role'], 'm');

export type UserAccountRow = Row<typeof OWN_ROLE> & {
  name: string;
  status: 'active' | 'disabled';
  kyb_status: string;
};

/** A role through an organization counts if it is higher. */
export async function selectAccountsOf(sql: Sql, userId: string): Promise<UserAccountRow[]> {
  const rows = await sql.query<UserAccountRow>(
    `select ${OWN_ROLE}, a.name, a.status, a.kyb_status
     from account_rights m join accounts a on a.id = m.account_id
     where m.user_id = $1 order by m.created, m.account_id`,
    [userId],
  );
  const byId = new Map<string, UserAccountRow>();
  for (const row of rows) {
    const known = byId.get(row.account_id);
    const role = highestRole([row.role, known?.role ?? null]) ?? row.role;
    byId.set(row.account_id, { ...row, role });
  }
  return [...byId.values()];
}

/** Returns the email addresses of an account's owners, including those of its organization. */
export async function selectOwnerEmails(sql: Sql, accountId: string): Promise<string[]> {
  const rows = await sql.query<{ email: string }>(
    `select distinct u.email from account_rights m join users u on u.id = m.user_id
     where m.account_id = $1 and m.role = 'owner' order by u.email`,
    [accountId],
  );
  return rows.map((row) => row.email);
}

/** True if the account takes real money. */
export async function isLive(sql: Sql, accountId: string): Promise<boolean> {
  const rows = await sql.query(
    'select from account_modes where account_id = $1 and livemode and live_at is not null',
    [accountId],
  );
  return rows.length > 0;
}

/** Returns the ID of the person with this address who may see the account's books, if any. */
export async function selectReaderId(
  sql: Sql,
  filter: { readonly accountId: string; readonly email: string },
): Promise<string | null> {
  const rows = await sql.query<{ user_id: string }>(
    `select m.user_id from account_rights m join users u on u.id = m.user_id
     where m.account_id = $1 and m.role <> 'cashier' and u.email = $2 and u.status = 'active'
     limit 1`,
    [filter.accountId, filter.email],
  );
  return rows[0]?.user_id ?? null;
}

/** Returns the IDs among these that belong to members, or to present or former staff. */
export async function selectPeopleAmong(
  sql: Sql,
  accountId: string,
  ids: readonly string[],
): Promise<string[]> {
  const rows = await sql.query<{ id: string }>(
    `select user_id as id from memberships where account_id = $1 and user_id = any($2)
     union all select id from staff where account_id = $1 and id = any($2)`,
    [accountId, ids],
  );
  return rows.map((row) => row.id);
}
