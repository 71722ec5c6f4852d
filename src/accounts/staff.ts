import { type LimitInput, readLimit } from '#accounts/read-limit.ts';
import { type AccountRef, recordAccountChange } from '#audit/record-change.ts';
import { isRefusal, type Refusal, refuse, resourceMissing } from '#core/answer.ts';
import { only, present } from '#core/assert.ts';
import type { Json } from '#core/canonical-json.ts';
import { type IdKey, newId } from '#core/ids.ts';
import { MAX_AMOUNT, toJsonAtoms } from '#core/money.ts';
import { readName } from '#core/name-rules.ts';
import { limitFrom, type StoredShopSum, storedShopSum } from '#core/shop-limit.ts';
import { staleVersion } from '#core/stale-version.ts';
import type { Database, Sql, Tx } from '#db/database.ts';
import { as, type Row, table } from '#db/table.ts';
import { checkNameIsFree, hashPin, lockPeople, updatePin } from '#people/cashier-pins.ts';
import { defaultRights, rightsAfter } from '#people/membership-queries.ts';
import { checkLimitIsSet, checkPin } from '#people/pin-rules.ts';
import { liftsLimits, type TillRole } from '#people/role-order.ts';

/** People who work at tills and have no sign-in of their own, only a name and a PIN. */

export const staff = table(
  'staff',
  {
    id: 'text',
    account_id: 'text',
    name: 'text',
    role: as<TillRole>('text'),
    /** `null`: only the account's daily limit. */
    refund_limit: 'bigint?',
    refund_limit_presentment: as<StoredShopSum | null>('jsonb?'),
    may_discount: 'boolean',
    version: 'int',
    created: 'timestamptz',
    removed_at: 'timestamptz?',
    pin_id: 'uuid?',
    long_pin_id: 'uuid?',
    pin_locked_at: 'timestamptz?',
  },
  { pin_hash: 'text?', erased_as: 'int?' },
);

export type StaffMember = Row<typeof staff>;

/** More people than work in one account, and few enough for one list. */
const MAX_STAFF = 500;

export async function selectStaff(sql: Sql, accountId: string): Promise<StaffMember[]> {
  return staff.list(sql, 'where account_id = $1 and removed_at is null order by lower(name), id', [
    accountId,
  ]);
}

/** Returns `null` if there is no such person. */
export async function selectStaffRole(
  sql: Sql,
  { accountId, id }: Pick<StaffRef, 'accountId' | 'id'>,
): Promise<TillRole | null> {
  const where = 'where id = $1 and account_id = $2 and removed_at is null';
  return (await staff.find(sql, where, [id, accountId]))?.role ?? null;
}

/** Renders a person's limit of refunds. */
function limitOf({ refund_limit: atoms, refund_limit_presentment: stored }: StaffMember) {
  if (atoms === null) return { refund_limit: null, refund_limit_presentment: null };
  const { inShop } = limitFrom(atoms, stored);
  const refund_limit_presentment = inShop === null ? null : { ...inShop };
  return { refund_limit: toJsonAtoms(atoms), refund_limit_presentment };
}

export function staffObject(row: StaffMember): { readonly [key: string]: Json } {
  const { id, name, role, may_discount, pin_locked_at, version, created } = row;
  const rights = { ...limitOf(row), may_discount, pin_blocked: pin_locked_at !== null };
  const at = { version, created: created.toISOString() };
  return { id, object: 'staff', name, role, ...rights, ...at };
}

/**
 * Returns what the audit log shows. It never holds a name, because its entries cannot be changed
 * when a name is erased. Nor does the sentence for the owners' mail, whose link stores it.
 */
function logged(row: StaffMember): { readonly [key: string]: Json } {
  return { role: row.role, ...limitOf(row), may_discount: row.may_discount };
}

/** The fields that a request may set. Named as in the API. */
export interface StaffEdit {
  readonly name?: string | undefined;
  readonly role?: TillRole | undefined;
  readonly refund_limit?: LimitInput | null | undefined;
  readonly may_discount?: boolean | undefined;
}

export interface StaffRef extends AccountRef {
  readonly id: string;
}

interface StaffContext {
  readonly db: Database;
  readonly idKey: IdKey;
}

/** Returns the columns of a limit, or none if the request leaves it out. */
async function readRefundLimit(
  tx: Tx,
  accountId: string,
  { role, refund_limit: input }: StaffEdit & { readonly role: TillRole },
): Promise<Partial<Pick<StaffMember, 'refund_limit' | 'refund_limit_presentment'>> | Refusal> {
  if (input === undefined) return {};
  const unlimited = checkLimitIsSet(role, input);
  if (unlimited !== null) return unlimited;
  if (input === null) return { refund_limit: null, refund_limit_presentment: null };
  const limit = await readLimit(tx, input, { accountId, param: 'refund_limit', most: MAX_AMOUNT });
  if (isRefusal(limit)) return limit;
  return { refund_limit: limit.atoms, refund_limit_presentment: storedShopSum(limit) };
}

/** Adds a person with a PIN. */
export async function addStaff(
  { db, idKey }: StaffContext,
  { accountId, actor, now }: AccountRef,
  input: StaffEdit & { readonly name: string; readonly pin: string; readonly role: TillRole },
): Promise<StaffMember | Refusal> {
  const { pin, role, may_discount } = input;
  const name = readName(input.name, 'name');
  if (isRefusal(name)) return name;
  const wrong = checkPin(pin, liftsLimits(role));
  if (wrong !== null) return wrong;
  const id = newId('staff', now);
  const hashed = await hashPin(idKey, { accountId, personId: id, pin });
  if (isRefusal(hashed)) return hashed;
  return db.transaction<StaffMember | Refusal>(async (tx) => {
    await lockPeople(tx, accountId);
    const isTaken = await checkNameIsFree(tx, { accountId, id, name });
    if (isTaken !== null) return isTaken;
    if ((await selectStaff(tx, accountId)).length >= MAX_STAFF) {
      return refuse('unexpected_state', `An account can have at most ${MAX_STAFF} staff.`);
    }
    const limit = await readRefundLimit(tx, accountId, input);
    if (isRefusal(limit)) return limit;
    const discounts = may_discount === undefined ? {} : { may_discount };
    const rights = { ...defaultRights(role), ...limit, ...discounts };
    const made = { id, account_id: accountId, name, role, created: now, ...rights };
    const row = await staff.insert(tx, made);
    await updatePin(tx, { accountId, personId: id, hashed });
    await recordAccountChange(
      tx,
      { accountId, actor, now },
      {
        action: 'staff.added',
        objectId: id,
        after: logged(row),
        detail: `A new ${role} can sign in at tills.`,
      },
    );
    return row;
  });
}

/** Locks a person who was not removed, or also a removed one. */
async function lockStaff(
  tx: Tx,
  { accountId, id }: StaffRef,
  which: 'present' | 'any' = 'present',
): Promise<StaffMember | Refusal> {
  await lockPeople(tx, accountId);
  const row = await staff.find(tx, 'where id = $1 and account_id = $2 for update', [id, accountId]);
  const isThere = row !== undefined && (which === 'any' || row.removed_at === null);
  return isThere ? row : resourceMissing('staff member');
}

export async function editStaff(
  tx: Tx,
  ref: StaffRef,
  { version, ...edit }: StaffEdit & { readonly version: number },
): Promise<StaffMember | Refusal> {
  const { accountId, id } = ref;
  const before = await lockStaff(tx, ref);
  if (isRefusal(before)) return before;
  if (before.version !== version) return staleVersion(before.version);
  const { role = before.role, may_discount } = edit;
  const name = edit.name === undefined ? before.name : readName(edit.name, 'name');
  if (isRefusal(name)) return name;
  const isTaken = await checkNameIsFree(tx, { accountId, id, name });
  if (isTaken !== null) return isTaken;
  if (liftsLimits(role) && before.long_pin_id !== before.pin_id) {
    const message = 'A manager needs a PIN of 6 to 8 digits. Set one first, then the role.';
    return refuse('parameter_invalid', message, 'role');
  }
  const limit = await readRefundLimit(tx, accountId, { ...edit, role });
  if (isRefusal(limit)) return limit;
  const discounts = may_discount === undefined ? {} : { may_discount };
  const rights = { ...rightsAfter(before, role), ...limit, ...discounts };
  const set = { name, role, ...rights };
  const which = { where: 'id = $1', values: [id], also: 'version = version + 1' };
  const row = only(await staff.update(tx, set, which), 'staff member');
  await recordAccountChange(tx, ref, {
    action: 'staff.changed',
    objectId: id,
    before: logged(before),
    after: { ...logged(row), ...(name === before.name ? {} : { renamed: true }) },
  });
  return row;
}

/** Replaces the name by a number, wherever a name is looked up. */
async function eraseName(tx: Tx, { accountId, id }: StaffRef): Promise<void> {
  await tx.query(
    `update staff set name = 'Staff ' || n.next, erased_as = n.next
     from (select coalesce(max(erased_as), 0) + 1 as next from staff where account_id = $1) n
     where id = $2 and erased_as is null`,
    [accountId, id],
  );
}

/**
 * Removes a person. A shift in which the person is signed in continues without one. Sales keep the
 * person's id. With `erase`, which also works later, the name is replaced.
 */
export async function removeStaff(
  tx: Tx,
  ref: StaffRef,
  { version, erase }: { readonly version: number; readonly erase: boolean },
): Promise<StaffMember | Refusal> {
  const before = await lockStaff(tx, ref, erase ? 'any' : 'present');
  if (isRefusal(before)) return before;
  if (before.version !== version) return staleVersion(before.version);
  await updatePin(tx, { accountId: ref.accountId, personId: ref.id, hashed: null });
  const which = { where: 'id = $1', values: [ref.id], also: 'version = version + 1' };
  const set = { removed_at: before.removed_at ?? ref.now };
  await staff.update(tx, set, which);
  // Only after the removal, because a person at the till may be named like the number.
  if (erase) await eraseName(tx, ref);
  const row = present(await staff.find(tx, 'where id = $1', [ref.id]), 'staff member');
  await recordAccountChange(tx, ref, {
    action: 'staff.removed',
    objectId: ref.id,
    before: logged(before),
    after: { erased: erase },
  });
  return row;
}

/** Sets a new PIN, or the same one again, and ends every block. */
export async function changeStaffPin(
  { db, idKey }: StaffContext,
  ref: StaffRef,
  pin: string,
): Promise<StaffMember | Refusal> {
  const { accountId, id } = ref;
  const hashed = await hashPin(idKey, { accountId, personId: id, pin });
  if (isRefusal(hashed)) return hashed;
  return db.transaction<StaffMember | Refusal>(async (tx) => {
    const row = await lockStaff(tx, ref);
    if (isRefusal(row)) return row;
    const wrong = checkPin(pin, liftsLimits(row.role));
    if (wrong !== null) return wrong;
    await updatePin(tx, { accountId, personId: id, hashed });
    const detail = `A ${row.role} has a new PIN for tills.`;
    await recordAccountChange(tx, ref, { action: 'staff.pin_set', objectId: id, detail });
    return present(await staff.find(tx, 'where id = $1', [id]), 'staff member');
  });
}
