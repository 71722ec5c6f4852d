import { selectOpenProposal } from '#apis/operator/proposal-queries.ts';
import { decide, propose } from '#apis/operator/propose-and-approve.ts';
import { isRefusal, type Refusal, refuse } from '#core/answer.ts';
import { networkOf } from '#core/mode.ts';
import { readEmail } from '#core/name-rules.ts';
import { Abandon, type Database } from '#db/database.ts';
import type { AdminInput } from '#ops/admin-input.ts';
import { verifyPassword } from '#people/passwords.ts';
import { signInFailed } from '#people/sign-in.ts';
import { selectUserByEmail, type UserRow } from '#people/user-queries.ts';
import {
  type ForeignRow,
  selectForeign,
  selectNewestForeign,
} from '#settlement/foreign-settlement-queries.ts';

type Outcome = { readonly lines: readonly string[] } | Refusal;

const REASON = 'npm run admin -- foreign-settlements';
const FORMS = 'foreign-settlements accept|refuse <testnet|mainnet> <account> <your email address>';

/** Runs `foreign-settlements` and `foreign-settlements accept|refuse …`. */
export async function foreignSettlements(db: Database, input: AdminInput): Promise<Outcome> {
  const [, verb] = input.args;
  if (verb === undefined) return list(db);
  if (verb === 'accept' || verb === 'refuse') return decideBy(db, input, verb);
  return refuse('parameter_invalid', `Usage: ${FORMS}`);
}

async function list(db: Database): Promise<Outcome> {
  const rows = await selectForeign(db);
  if (rows.length === 0)
    return { lines: ['There are no settlements that the service did not request.'] };
  return { lines: [...rows.map(lineOf), `To decide: ${FORMS}`] };
}

function lineOf(row: ForeignRow): string {
  const { kind, number, amount, address, tx_hash: hash, decision } = row;
  const what = `${kind} ${number} ${amount} atoms ${address} ${hash}`;
  return `${networkOf(row.livemode)} ${row.account_id} ${decision ?? 'undecided'} ${what}`;
}

/**
 * Proposes the decision on behalf of one operator. A second operator approves it with the same
 * command, or at /operator.
 */
async function decideBy(
  db: Database,
  input: AdminInput,
  verb: 'accept' | 'refuse',
): Promise<Outcome> {
  const [, , network = '', accountId = '', email = ''] = input.args;
  if (network !== 'testnet' && network !== 'mainnet') {
    return refuse('parameter_invalid', `Usage: ${FORMS}`);
  }
  const person = await operatorOf(db, input, email);
  if (isRefusal(person)) return person;
  const livemode = network === 'mainnet';
  const kind = `${verb}_foreign` as const;
  const actor = { ...OPERATOR, userId: person.id, email: person.email };
  const by = { userId: person.id, actor, now: input.now, people: NOTHING_TO_SEAL };
  return db.transaction<Outcome>(async (tx) => {
    const filter = { kind, livemode, subject: accountId, now: input.now };
    const open = await selectOpenProposal(tx, filter);
    if (open !== undefined) {
      const decided = await decide(tx, { id: open.id, approves: true, reason: REASON }, by);
      if (decided instanceof Abandon || isRefusal(decided)) return decided;
      return { lines: [`${accountId}: ${DONE[verb]} (${open.proposed_by_email}, ${email})`] };
    }
    const newest = await selectNewestForeign(tx, { accountId, livemode });
    if (newest === null) {
      return refuse('resource_missing', `There is nothing to decide for ${accountId}.`);
    }
    const wish = { kind, livemode, subject: accountId, payload: { up_to: Number(newest) } };
    const made = await propose(tx, { ...wish, reason: REASON }, by);
    if (made instanceof Abandon || isRefusal(made)) return made;
    return { lines: [`${made.id}: a second operator must run the same command, or approve it`] };
  });
}

const DONE = {
  accept: 'accepted: a worker is booking them',
  refuse: 'refused: they stay unbooked',
} as const;

/**
 * Accepting or refusing a settlement sends no mail and encrypts nothing, and always needs two
 * operators.
 */
const NOTHING_TO_SEAL = { secretKey: Buffer.alloc(0), factorAgeMs: 1 };

const OPERATOR = { type: 'operator', requestId: 'admin command', address: '' } as const;

/** Identifies the operator by password, so that one person cannot act as two operators. */
async function operatorOf(
  db: Database,
  input: AdminInput,
  text: string,
): Promise<UserRow | Refusal> {
  const email = readEmail(text);
  if (isRefusal(email)) return email;
  const user = await selectUserByEmail(db, { realm: 'operator', email });
  const password = await input.readPassword();
  const matches = await verifyPassword(password, user?.password_hash ?? null, 'command');
  if (isRefusal(matches)) return matches;
  if (!matches || user?.status !== 'active' || user.staff_role !== 'operator') {
    return signInFailed();
  }
  return user;
}
