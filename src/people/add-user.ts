import { isRefusal, type Refusal, refuse } from '#core/answer.ts';
import { newId } from '#core/ids.ts';
import { readEmail, readName } from '#core/name-rules.ts';
import type { Tx } from '#db/database.ts';
import type { HashCaller } from '#people/password-hash-limits.ts';
import { checkPassword, hashPassword } from '#people/passwords.ts';
import { type Realm, selectUserByEmail, users } from '#people/user-queries.ts';

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

/**
 * Validates the name and the address and hashes the password. Call it outside a transaction,
 * because the hash takes long.
 */
export async function readPerson(
  person: NewPerson,
  caller: HashCaller,
): Promise<CheckedPerson | Refusal> {
  const email = readEmail(person.email);
  if (isRefusal(email)) return email;
  const name = readName(person.name, 'name');
  if (isRefusal(name)) return name;
  const weak = checkPassword(person.password, email);
  if (weak !== null) return weak;
  const passwordHash = await hashPassword(person.password, caller);
  return isRefusal(passwordHash) ? passwordHash : { email, name, passwordHash };
}

/** Adds the user, unless the realm already has one with this address. */
export async function addUser(
  tx: Tx,
  person: CheckedPerson,
  at: { readonly realm: Realm; readonly now: Date },
): Promise<string | Refusal> {
  const { realm, now } = at;
  if ((await selectUserByEmail(tx, { realm, email: person.email })) !== undefined) {
    return refuse('already_exists', 'A user with this email address already exists.', 'email');
  }
  const id = newId('user', now);
  const { email, name, passwordHash } = person;
  await users.insert(tx, { id, realm, email, name, password_hash: passwordHash, created: now });
  return id;
}
