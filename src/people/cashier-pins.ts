import { isRefusal, type Refusal, refuse } from '#core/answer.ts';
import { type IdKey, isId, pinText } from '#core/ids.ts';
import { isLongPin } from '#core/pin-problem.ts';
import type { StoredShopSum } from '#core/shop-limit.ts';
import type { Database, Sql, Tx } from '#db/database.ts';
import { lockName } from '#db/lock-by-name.ts';
import { as, type Row, table } from '#db/table.ts';
import { findMember } from '#people/change-member.ts';
import { lockMembers, type MemberRow, memberships } from '#people/membership-queries.ts';
import { hashPassword } from '#people/passwords.ts';
import { checkPin } from '#people/pin-rules.ts';
import type { PinTries } from '#people/pin-tries.ts';
import { type LogRef, recordTeam } from '#people/record-team-changes.ts';
import { liftsLimits, type Role, type TillRole } from '#people/role-order.ts';

/**
 * The PINs with which members and staff sign in at tills. A person at the till is named by the id
 * of the user (`usr_…`) or of the staff member (`stf_…`).
 */

export interface PersonRef {
  readonly accountId: string;
  readonly personId: string;
}

/** The view of everyone who has a PIN. */
export const tillPeople = table('till_people', {
  account_id: 'text',
  id: 'text',
  name: 'text',
  role: as<Role | TillRole>('text'),
  /** True if the person may allow what the signed-in person may not. */
  lifts: 'boolean',
  /** `null`: only the account's daily limit. */
  refund_limit: 'bigint?',
  refund_limit_presentment: as<StoredShopSum | null>('jsonb?'),
  may_discount: 'boolean',
  pin_id: 'uuid',
});

/** Returns the text to store for a PIN, and whether it is long enough to lift limits. */
export async function hashPin(
  idKey: IdKey,
  { accountId, personId, pin }: PersonRef & { readonly pin: string },
): Promise<{ readonly hash: string; readonly isLong: boolean } | Refusal> {
  const hash = await hashPassword(pinText(idKey, { accountId, personId, pin }), 'person');
  return isRefusal(hash) ? hash : { hash, isLong: isLongPin(pin) };
}

export interface NewPin {
  readonly userId: string;
  /** 4 to 8 digits; `null` removes the PIN. */
  readonly pin: string | null;
}

/**
 * Sets or removes a member's PIN, and ends a block. Ends the rights of any shift that was started
 * with the old PIN.
 */
export async function changePin(
  ctx: { readonly db: Database; readonly idKey: IdKey },
  ref: LogRef,
  { userId: personId, pin }: NewPin,
): Promise<MemberRow | Refusal> {
  const { accountId } = ref;
  const hashed = pin === null ? null : await hashPin(ctx.idKey, { accountId, personId, pin });
  if (isRefusal(hashed)) return hashed;
  return ctx.db.transaction<MemberRow | Refusal>(async (tx) => {
    await lockPeople(tx, accountId);
    const found = findMember(await lockMembers(tx, accountId), personId);
    if (isRefusal(found)) return found;
    const { member } = found;
    const wrong = pin === null ? null : await checkMemberPin(tx, accountId, { member, pin });
    if (wrong !== null) return wrong;
    const { email, role, has_pin: hadPin } = member;
    await updatePin(tx, { accountId, personId, hashed });
    const hasPin = hashed !== null;
    await recordTeam(tx, ref, {
      action: hasPin ? 'member.pin_set' : 'member.pin_removed',
      objectId: personId,
      before: { email, role, has_pin: hadPin },
      after: { email, role, has_pin: hasPin },
      detail: hasPin
        ? `${email} has a new PIN for tills.`
        : `${email} no longer has a PIN for tills.`,
    });
    return { ...member, has_pin: hasPin, pin_locked_at: null };
  });
}

async function checkMemberPin(
  tx: Tx,
  accountId: string,
  { member, pin }: { readonly member: MemberRow; readonly pin: string },
): Promise<Refusal | null> {
  const { user_id: id, name, role } = member;
  const wrong = checkPin(pin, liftsLimits(role));
  // Members of before could share a name. They keep it and may change their PINs.
  if (wrong !== null || member.has_pin) return wrong;
  return checkNameIsFree(tx, { accountId, id, name });
}

/** Holds the names of an account's people until the transaction ends. */
export async function lockPeople(tx: Tx, accountId: string): Promise<void> {
  await lockName(tx, `people at tills ${accountId}`);
}

/** Checks that no other person at the account's tills has this name. */
export async function checkNameIsFree(
  sql: Sql,
  person: { readonly accountId: string; readonly id: string; readonly name: string },
): Promise<Refusal | null> {
  const { accountId, id, name } = person;
  const rows = await sql.query(
    `select from till_people
     where account_id = $1 and id <> $2 and lower(name) = lower($3) limit 1`,
    [accountId, id, name],
  );
  if (rows.length === 0) return null;
  return refuse('parameter_invalid', 'Another person at the till has this name.', 'name');
}

/** Checks a member's new name in the accounts where the member has a PIN. */
export async function checkOwnNameIsFree(
  tx: Tx,
  { userId: id, name }: { readonly userId: string; readonly name: string },
): Promise<Refusal | null> {
  // In one order, so that two changes cannot wait for each other.
  const places = await tillPeople.list(tx, 'where id = $1 order by account_id', [id]);
  for (const { account_id: accountId, name: before } of places) {
    if (name === before) continue;
    await lockPeople(tx, accountId);
    const isTaken = await checkNameIsFree(tx, { accountId, id, name });
    if (isTaken !== null) return isTaken;
  }
  return null;
}

/** The table (`p`) of a person, and the condition that finds the row by account and person. */
function rowOf(personId: string) {
  return isId('staff', personId)
    ? { table: 'staff p', is: 'p.account_id = $1 and p.id = $2' }
    : { table: 'memberships p', is: 'p.account_id = $1 and p.user_id = $2' };
}

/** Sets the columns of a PIN, and ends every block. */
export async function updatePin(
  tx: Tx,
  {
    accountId,
    personId,
    hashed,
  }: PersonRef & {
    readonly hashed: { readonly hash: string; readonly isLong: boolean } | null;
  },
): Promise<void> {
  const { table, is } = rowOf(personId);
  const pinId = hashed === null ? null : crypto.randomUUID();
  await tx.query(
    `update ${table} set pin_hash = $3, pin_id = $4, long_pin_id = $5,
       pin_wrong_at = '{}', pin_blocked_until = null, pin_wrong_today = '{}', pin_locked_at = null
     where ${is}`,
    [accountId, personId, hashed?.hash ?? null, pinId, hashed?.isLong === true ? pinId : null],
  );
}

const PIN = memberships.pick(
  [
    ...(['pin_hash', 'pin_id', 'long_pin_id', 'pin_wrong_at', 'pin_blocked_until'] as const),
    ...(['pin_wrong_today', 'pin_locked_at'] as const),
  ],
  'p',
);

export type PinRow = Row<typeof PIN>;

export async function selectPin(
  sql: Sql,
  { accountId, personId }: PersonRef,
): Promise<PinRow | null> {
  const { table, is } = rowOf(personId);
  const rows = await sql.query<PinRow>(`select ${PIN} from ${table} where ${is}`, [
    accountId,
    personId,
  ]);
  return rows[0] ?? null;
}

/** Locks the person, so that concurrent guesses at one PIN are counted one after the other. */
export async function lockPin(tx: Tx, { accountId, personId }: PersonRef): Promise<PinRow | null> {
  const { table, is } = rowOf(personId);
  const rows = await tx.query<PinRow>(`select ${PIN} from ${table} where ${is} for update`, [
    accountId,
    personId,
  ]);
  return rows[0] ?? null;
}

export async function updatePinTries(
  tx: Tx,
  { accountId, personId, wrongAt, blockedUntil, today, lockedAt }: PersonRef & PinTries,
): Promise<void> {
  const { table, is } = rowOf(personId);
  await tx.query(
    `update ${table} set pin_wrong_at = $3, pin_blocked_until = $4,
       pin_wrong_today = $5::text::jsonb, pin_locked_at = $6 where ${is}`,
    [accountId, personId, wrongAt, blockedUntil, JSON.stringify(today), lockedAt],
  );
}

/** Notes that a PIN from before has six digits or more, which only a right one shows. */
export async function noteLongPin(tx: Tx, { accountId, personId }: PersonRef): Promise<void> {
  const { table, is } = rowOf(personId);
  await tx.query(
    `update ${table} set long_pin_id = pin_id
     where ${is} and long_pin_id is distinct from pin_id`,
    [accountId, personId],
  );
}

export async function selectPersonName(
  sql: Sql,
  { accountId, personId }: PersonRef,
): Promise<string> {
  const rows = await sql.query<{ name: string }>(
    'select name from till_people where account_id = $1 and id = $2',
    [accountId, personId],
  );
  return rows[0]?.name ?? personId;
}

/** True if somebody in the account has a PIN, so that a till without a person has no rights. */
export async function hasTillPeople(sql: Sql, accountId: string): Promise<boolean> {
  return (await tillPeople.find(sql, 'where account_id = $1 limit 1', [accountId])) !== undefined;
}

const CASHIER = tillPeople.pick(['id', 'name', 'role', 'lifts']);

/** Returns the people who have a PIN, and so can start a shift at a till, by name. */
export async function selectCashiers(sql: Sql, accountId: string): Promise<Row<typeof CASHIER>[]> {
  return sql.query(`select ${CASHIER} from till_people where account_id = $1 order by name, id`, [
    accountId,
  ]);
}
