import { insertAccount } from '#accounts/account-queries.ts';
import { unknownZone } from '#accounts/edit-account.ts';
import { checkShopEdit } from '#accounts/shop-settings.ts';
import { type Actor, actorId } from '#audit/audit.ts';
import { recordAccountChange } from '#audit/record-change.ts';
import { isRefusal, type Refusal } from '#core/answer.ts';
import { newId } from '#core/ids.ts';
import { readName } from '#core/name-rules.ts';
import type { Database, Tx } from '#db/database.ts';
import { addUser, type NewPerson, readPerson } from '#people/add-user.ts';
import { insertMembership } from '#people/membership-queries.ts';

/** The settings of a shop that a sign-up may choose. */
export interface ShopStart {
  /** ISO 4217, in lowercase; `null` for USDC. */
  readonly currency?: string | null | undefined;
  readonly timeZone?: string | undefined;
}

export function checkShopStart({ currency, timeZone }: ShopStart): Refusal | null {
  const wrong = timeZone === undefined ? null : unknownZone(timeZone);
  return wrong ?? checkShopEdit({ currency });
}

/** Creates an account in both modes, owned by this user. The name is already validated. */
export async function createAccount(
  tx: Tx,
  input: {
    readonly name: string;
    readonly ownerId: string;
    readonly actor: Actor;
    readonly now: Date;
    readonly shop?: ShopStart;
  },
): Promise<{ readonly accountId: string }> {
  const { name, ownerId, actor, now } = input;
  const { currency = null, timeZone = null } = input.shop ?? {};
  const accountId = newId('account', now);
  await insertAccount(tx, { id: accountId, name, now, currency, timeZone });
  await insertMembership(tx, { accountId, userId: ownerId, role: 'owner', now });
  const ref = { accountId, actor, now };
  const after = { name, owner: ownerId, by: actorId(actor) };
  await recordAccountChange(tx, ref, { action: 'account.created', after });
  return { accountId };
}

/**
 * Creates an account with its first owner, without a sign-up mail, for demo data and commands. The
 * password is checked and hashed as at a sign-up.
 */
export async function createAccountWithOwner(
  db: Database,
  input: {
    readonly accountName: string;
    readonly owner: NewPerson;
    readonly actor: Actor;
    readonly now: Date;
  },
): Promise<{ readonly accountId: string; readonly userId: string } | Refusal> {
  const { actor, now } = input;
  const name = readName(input.accountName, 'account_name');
  if (isRefusal(name)) return name;
  const person = await readPerson(input.owner, 'command');
  if (isRefusal(person)) return person;
  return db.transaction(async (tx) => {
    const userId = await addUser(tx, person, { realm: 'merchant', now });
    if (isRefusal(userId)) return userId;
    const { accountId } = await createAccount(tx, { name, ownerId: userId, actor, now });
    return { accountId, userId };
  });
}
