import { checkShopStart, createAccount, type ShopStart } from '#accounts/create-account.ts';
import type { Actor } from '#audit/audit.ts';
import { isRefusal, type Refusal } from '#core/answer.ts';
import { present } from '#core/assert.ts';
import { readName } from '#core/name-rules.ts';
import { addUser } from '#people/add-user.ts';
import { linkRefused, readLink } from '#people/email-links.ts';
import { deleteEmailTokens, takeEmailToken } from '#people/email-token-queries.ts';

import { checkPassword, hashPassword } from '#people/passwords.ts';
import type { PeopleDeps, Visit } from '#people/people-context.ts';
import { type OpenedSession, openSession } from '#people/sessions.ts';
import { selectUser, type UserRow } from '#people/user-queries.ts';

export interface SignedUp {
  readonly accountId: string;
  readonly user: UserRow;
  readonly session: OpenedSession;
}

/**
 * The link proves that the person owns the mailbox, so the name and the password are chosen only
 * now. Otherwise, a stranger could sign up with another person's address and a password of their
 * own, and the mailbox's owner would confirm the stranger's access.
 */
export async function completeSignUp(
  deps: PeopleDeps,
  input: {
    readonly token: string;
    readonly name: string;
    readonly accountName: string;
    readonly password: string;
    /** The shop's currency and time zone, as the browser proposed or the person chose them. */
    readonly shop: ShopStart;
    readonly requestId: string;
    readonly visit: Visit;
  },
): Promise<SignedUp | Refusal> {
  const { visit } = input;
  const { now } = visit;
  const shown = { text: input.token, purpose: 'sign_up', realm: 'merchant', visit } as const;
  const link = await readLink(deps.db, shown);
  if (isRefusal(link)) return link;
  const name = readName(input.name, 'name');
  if (isRefusal(name)) return name;
  const accountName = readName(input.accountName, 'account_name');
  if (isRefusal(accountName)) return accountName;
  const wrong = checkShopStart(input.shop);
  if (wrong !== null) return wrong;
  const weak = checkPassword(input.password, link.email);
  if (weak !== null) return weak;
  const passwordHash = await hashPassword(input.password, 'link');
  if (isRefusal(passwordHash)) return passwordHash;
  return deps.db.transaction<SignedUp | Refusal>(async (tx) => {
    const email = await takeEmailToken(tx, link.token);
    if (email === undefined) return linkRefused();
    const userId = await addUser(tx, { email, name, passwordHash }, { realm: 'merchant', now });
    if (isRefusal(userId)) return linkRefused();
    await deleteEmailTokens(tx, { realm: 'merchant', email });
    const who = { requestId: input.requestId, address: visit.address };
    const actor: Actor = { type: 'user', userId, email, ...who };
    const { accountId } = await createAccount(tx, {
      name: accountName,
      ownerId: userId,
      actor,
      now,
      shop: input.shop,
    });
    const session = await openSession(tx, {
      userId,
      realm: 'merchant',
      level: 'full',
      secondFactorAt: null,
      visit,
    });
    return { accountId, user: present(await selectUser(tx, userId), 'user'), session };
  });
}
