import { isRefusal, type Refusal } from '#core/answer.ts';
import { type IdKey, pinText } from '#core/ids.ts';
import type { Tries } from '#core/pin-and-code-lockout.ts';
import type { Database, Sql, Tx } from '#db/database.ts';
import type { Row } from '#db/table.ts';
import { findMember } from '#people/change-member.ts';
import { lockMembers, type MemberRow, memberships } from '#people/membership-queries.ts';
import { hashPassword } from '#people/passwords.ts';
import { type LogRef, recordTeam } from '#people/record-team-changes.ts';

/** A member's new PIN for starting shifts at a till. */

export interface NewPin {
  readonly userId: string;
  /** 4 to 8 digits; `null` removes the PIN. */
  readonly pin: string | null;
}

/**
 * Sets or removes a member's PIN, and resets the count of wrong tries. Ends the rights of any shift
 * that was started with the old PIN.
 */
export async function changePin(
  ctx: { readonly db: Database; readonly idKey: IdKey },
  ref: LogRef,
  { userId, pin }: NewPin,
): Promise<MemberRow | Refusal> {
  const { accountId } = ref;
  const text = pin === null ? null : pinText(ctx.idKey, { accountId, userId, pin });
  const hash = text === null ? null : await hashPassword(text, 'person');
  if (isRefusal(hash)) return hash;
  return ctx.db.transaction<MemberRow | Refusal>(async (tx) => {
    const member = findMember(await lockMembers(tx, accountId), userId);
    if (isRefusal(member)) return member;
    const { email, role, has_pin: hadPin } = member.member;
    await updatePin(tx, { accountId, userId, hash });
    const hasPin = hash !== null;
    await recordTeam(tx, ref, {
      action: hasPin ? 'member.pin_set' : 'member.pin_removed',
      objectId: userId,
      before: { email, role, has_pin: hadPin },
      after: { email, role, has_pin: hasPin },
      detail: hasPin
        ? `${email} has a new PIN for tills.`
        : `${email} no longer has a PIN for tills.`,
    });
    return { ...member.member, has_pin: hasPin };
  });
}

async function updatePin(
  tx: Tx,
  pin: { readonly accountId: string; readonly userId: string; readonly hash: string | null },
): Promise<void> {
  await tx.query(
    `update memberships set pin_hash = $3,
       pin_id = case when $3::text is null then null else gen_random_uuid() end,
       pin_wrong_at = '{}', pin_blocked_until = null
     where account_id = $1 and user_id = $2`,
    [pin.accountId, pin.userId, pin.hash],
  );
}

const PIN = memberships.pick(['pin_hash', 'pin_id', 'pin_wrong_at', 'pin_blocked_until']);

export type PinRow = Row<typeof PIN>;

interface MemberRef {
  readonly accountId: string;
  readonly userId: string;
}

const ONE_MEMBER = 'from memberships where account_id = $1 and user_id = $2';

export async function selectPin(
  sql: Sql,
  { accountId, userId }: MemberRef,
): Promise<PinRow | null> {
  const rows = await sql.query<PinRow>(`select ${PIN} ${ONE_MEMBER}`, [accountId, userId]);
  return rows[0] ?? null;
}

/** Locks the member, so that concurrent guesses at one PIN are counted one after the other. */
export async function lockPin(tx: Tx, { accountId, userId }: MemberRef): Promise<PinRow | null> {
  const values = [accountId, userId];
  const rows = await tx.query<PinRow>(`select ${PIN} ${ONE_MEMBER} for update`, values);
  return rows[0] ?? null;
}

export async function updatePinTries(
  tx: Tx,
  { accountId, userId, wrongAt, blockedUntil }: MemberRef & Tries,
): Promise<void> {
  await tx.query(
    `update memberships set pin_wrong_at = $3, pin_blocked_until = $4
     where account_id = $1 and user_id = $2`,
    [accountId, userId, wrongAt, blockedUntil],
  );
}

/** Returns the members who have a PIN, and so can start a shift at a till, by name. */
export async function selectCashiers(
  sql: Sql,
  accountId: string,
): Promise<{ readonly id: string; readonly name: string }[]> {
  return sql.query(
    `select u.id, u.name from memberships m join users u on u.id = m.user_id
     where m.account_id = $1 and m.pin_hash is not null order by u.name, u.id`,
    [accountId],
  );
}
