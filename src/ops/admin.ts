import { type Actor, NETWORK_AUDIT_LOG, recordEntry } from '#audit/audit.ts';
import { isRefusal, type Refusal, refuse } from '#core/answer.ts';
import { readEmail } from '#core/name-rules.ts';
import type { Database, Tx } from '#db/database.ts';
import { sayRestored } from '#ops/admin-answer-restored.ts';
import { foreignSettlements } from '#ops/admin-foreign-settlements.ts';
import type { AdminInput } from '#ops/admin-input.ts';
import { listAfterRestore } from '#ops/recovery-report.ts';
import { createOperator } from '#people/create-operator.ts';
import { deleteDevicesOf } from '#people/device-queries.ts';
import { deletePasskeysOf } from '#people/passkey-queries.ts';
import { checkPassword, hashPassword } from '#people/passwords.ts';
import { deleteRecoveryCodes } from '#people/second-factor-queries.ts';
import { deleteSessionsOf } from '#people/session-queries.ts';
import {
  NO_TOTP,
  type Realm,
  type StaffRole,
  selectOperators,
  selectUserByEmail,
  type UserRow,
  updateUser,
} from '#people/user-queries.ts';

/** The actor in the audit log. Only the machine knows which person ran a command. */
const ACTOR: Actor = { type: 'system', name: 'admin command' };

export const USAGE = `npm run admin -- <command>

  create-operator <email> <name>      a member of the network's staff; asks for a password
  create-support <email> <name>       the same, who sees everything and changes nothing
  list-operators
  disable-operator <email>            ends all of its sessions
  enable-operator <email>
  reset-operator <email>              a new password, all second factors removed
  reset-second-factor <email>         of a merchant's user who has lost the app and all codes
  after-restore                       what was recovered after a restore, and what cannot be
  restored yes|no                     whether the database is an earlier copy, where a start asks
  foreign-settlements                 what was settled with our keys, but not by this service
  foreign-settlements accept|refuse <testnet|mainnet> <account> <your email address>
                                      books it, or keeps it apart, once a second operator
                                      has done the same; asks for your password

The password is read from the terminal, or from a pipe.
Every change is in the audit log of the network.`;

type Outcome = { readonly lines: readonly string[] } | Refusal;

function noUser(email: string): Refusal {
  return refuse('resource_missing', `There is no such user: ${email}`, 'email');
}

async function findUser(tx: Tx, realm: Realm, text: string): Promise<UserRow | Refusal> {
  const email = readEmail(text);
  if (isRefusal(email)) return email;
  return (await selectUserByEmail(tx, { realm, email })) ?? noUser(email);
}

async function recordAction(tx: Tx, user: UserRow, action: string, now: Date): Promise<void> {
  await recordEntry(tx, {
    auditLog: NETWORK_AUDIT_LOG,
    actor: ACTOR,
    action,
    objectId: user.id,
    livemode: null,
    before: null,
    after: { email: user.email },
    now,
  });
}

async function removeFactors(tx: Tx, userId: string): Promise<void> {
  await updateUser(tx, userId, NO_TOTP);
  await deleteRecoveryCodes(tx, userId);
  await deletePasskeysOf(tx, userId);
  await deleteDevicesOf(tx, userId);
  await deleteSessionsOf(tx, { userId, exceptId: null });
}

async function addStaff(db: Database, input: AdminInput, role: StaffRole): Promise<Outcome> {
  const [, email = '', ...names] = input.args;
  const password = await input.readPassword();
  const person = { email, password, name: names.join(' ') };
  const made = await createOperator(db, { person, role, actor: ACTOR, now: input.now });
  if (isRefusal(made)) return made;
  return {
    lines: [
      `${made.userId} ${email}`,
      'Sign in at /operator and set up an authenticator app or a passkey; it opens only then.',
    ],
  };
}

async function listOperators(db: Database): Promise<Outcome> {
  const rows = await selectOperators(db);
  return {
    lines: rows.map((row) => `${row.id} ${row.status} ${row.staff_role} ${row.email} ${row.name}`),
  };
}

async function setStatus(
  db: Database,
  input: AdminInput,
  status: 'active' | 'disabled',
): Promise<Outcome> {
  return db.transaction<Outcome>(async (tx) => {
    const user = await findUser(tx, 'operator', input.args[1] ?? '');
    if (isRefusal(user)) return user;
    await updateUser(tx, user.id, { status });
    await deleteSessionsOf(tx, { userId: user.id, exceptId: null });
    const action = status === 'active' ? 'operator.enabled' : 'operator.disabled';
    await recordAction(tx, user, action, input.now);
    return { lines: [`${user.email} is ${status}`] };
  });
}

async function resetOperator(db: Database, input: AdminInput): Promise<Outcome> {
  const password = await input.readPassword();
  const weak = checkPassword(password, input.args[1] ?? '');
  if (weak !== null) return weak;
  const passwordHash = await hashPassword(password, 'command');
  if (isRefusal(passwordHash)) return passwordHash;
  return db.transaction<Outcome>(async (tx) => {
    const user = await findUser(tx, 'operator', input.args[1] ?? '');
    if (isRefusal(user)) return user;
    await updateUser(tx, user.id, { password_hash: passwordHash });
    await removeFactors(tx, user.id);
    await recordAction(tx, user, 'operator.reset', input.now);
    return { lines: [`${user.email}: sign in with the new password and set up a second factor`] };
  });
}

async function resetFactor(db: Database, input: AdminInput): Promise<Outcome> {
  return db.transaction<Outcome>(async (tx) => {
    const user = await findUser(tx, 'merchant', input.args[1] ?? '');
    if (isRefusal(user)) return user;
    await removeFactors(tx, user.id);
    await recordAction(tx, user, 'user.second_factor_reset', input.now);
    return { lines: [`${user.email}: the password alone opens the account again`] };
  });
}

/**
 * Runs the commands that a network needs before the operator API is available, or in addition to
 * it.
 */
export async function runAdmin(db: Database, input: AdminInput): Promise<Outcome> {
  switch (input.args[0]) {
    case 'create-operator':
      return addStaff(db, input, 'operator');
    case 'create-support':
      return addStaff(db, input, 'support');
    case 'list-operators':
      return listOperators(db);
    case 'disable-operator':
      return setStatus(db, input, 'disabled');
    case 'enable-operator':
      return setStatus(db, input, 'active');
    case 'reset-operator':
      return resetOperator(db, input);
    case 'reset-second-factor':
      return resetFactor(db, input);
    default:
      return (await runNetworkCommand(db, input)) ?? refuse('parameter_invalid', USAGE);
  }
}

/** Runs a command about the ledger or the chain; returns `null` for any other command. */
async function runNetworkCommand(
  db: Database,
  input: AdminInput,
): Promise<{ readonly lines: readonly string[] } | Refusal | null> {
  switch (input.args[0]) {
    case 'after-restore':
      return { lines: await listAfterRestore(db) };
    case 'restored':
      return sayRestored(db, input);
    case 'foreign-settlements':
      return foreignSettlements(db, input);
    default:
      return null;
  }
}
