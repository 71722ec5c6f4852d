import { insertAccount } from '#accounts/account-queries.ts';
import { type Actor, actorId } from '#accounts/actor.ts';
import { recordChange } from '#accounts/audit.ts';
import { insertMembership } from '#accounts/membership-queries.ts';
import { readEmail, readName } from '#accounts/names.ts';
import { checkPassword, hashPassword } from '#accounts/passwords.ts';
import { insertUser, type Realm, selectUserByEmail } from '#accounts/user-queries.ts';
import { newId } from '#core/ids.ts';
import { isRefusal, type Refusal, refuse } from '#core/refusal.ts';
import type { Database, Tx } from '#db/database.ts';

/** A new account in both modes, owned by this user. The name has been read already. */
export async function createAccount(
  tx: Tx,
  input: {
    readonly name: string;
    readonly ownerId: string;
    readonly actor: Actor;
    readonly now: Date;
  },
): Promise<{ readonly accountId: string }> {
  const { name, ownerId, actor, now } = input;
  const accountId = newId('account', now);
  await insertAccount(tx, { id: accountId, name, now });
  await insertMembership(tx, { accountId, userId: ownerId, role: 'owner', now });
  await recordChange(tx, {
    chain: accountId,
    actor,
    action: 'account.created',
    objectId: accountId,
    livemode: null,
    before: null,
    after: { name, owner: ownerId, by: actorId(actor) },
    now,
  });
  return { accountId };
}

/** What a person is created from. */
export interface NewPerson {
  readonly email: string;
  readonly password: string;
  readonly name: string;
}

interface CheckedPerson {
  readonly email: string;
  readonly passwordHash: string;
  readonly name: string;
}

/** Reads name and address and hashes the password: outside a transaction, because it takes long. */
export async function readPerson(person: NewPerson): Promise<CheckedPerson | Refusal> {
  const email = readEmail(person.email);
  if (isRefusal(email)) return email;
  const name = readName(person.name, 'name');
  if (isRefusal(name)) return name;
  const weak = checkPassword(person.password, email);
  if (weak !== null) return weak;
  const passwordHash = await hashPassword(person.password, 'command');
  return isRefusal(passwordHash) ? passwordHash : { email, name, passwordHash };
}

/** Adds the user, unless the address is taken in that realm. */
export async function addUser(
  tx: Tx,
  person: CheckedPerson,
  at: { readonly realm: Realm; readonly now: Date },
): Promise<string | Refusal> {
  const { realm, now } = at;
  if ((await selectUserByEmail(tx, { realm, email: person.email })) !== undefined) {
    return refuse('already_exists', 'There is a user with this address already.', 'email');
  }
  const id = newId('user', now);
  await insertUser(tx, { ...person, id, realm, now });
  return id;
}

/**
 * An account with its first owner, without sign-up mail: for demo data and commands.
 * The password is checked and hashed as that of a person who signs up.
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
  const person = await readPerson(input.owner);
  if (isRefusal(person)) return person;
  return db.transaction(async (tx) => {
    const userId = await addUser(tx, person, { realm: 'merchant', now });
    if (isRefusal(userId)) return userId;
    const { accountId } = await createAccount(tx, { name, ownerId: userId, actor, now });
    return { accountId, userId };
  });
}
