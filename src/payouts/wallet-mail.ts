import { addMs } from '#core/clock.ts';
import type { Tx } from '#db/database.ts';
import { issueHoldLink } from '#people/hold-after-owner-change.ts';
import { queueMail } from '#people/mail-outbox.ts';
import { selectOwnerEmails } from '#people/membership-queries.ts';
import { hasHoldLink, type ProposedWallet } from '#people/owner-change-queries.ts';
import type { PeopleDeps } from '#people/people-context.ts';

export interface WalletMail {
  readonly accountId: string;
  readonly proposed: ProposedWallet;
  readonly subject: string;
  /** Describes the change and when it takes effect. */
  readonly what: string;
  /** Advice that follows the link; may be empty. */
  readonly also: string;
  /** True if the new wallet is already in effect, so that nothing can be canceled. */
  readonly isInForce?: boolean;
  readonly now: Date;
}

/**
 * For this time, the same announcement is mailed only once, whether reconciliation, the watchtower
 * or a recovery finds it.
 */
const SAME_FOUND_MS = 600_000;

/**
 * Mails the owners about a change made outside the dashboard. Several loops find the same change,
 * but the owners get one mail about it.
 */
export async function mailAboutFoundWallet(
  tx: Tx,
  people: Pick<PeopleDeps, 'secretKey' | 'webUrl'>,
  mail: WalletMail,
): Promise<void> {
  const { accountId, proposed, now } = mail;
  const since = addMs(now, -SAME_FOUND_MS);
  if (await hasHoldLink(tx, { accountId, ...proposed, since })) return;
  await mailAboutWallet(tx, people, mail);
}

/** Mails every owner about an announced settlement wallet, each with a link that cancels it. */
export async function mailAboutWallet(
  tx: Tx,
  people: Pick<PeopleDeps, 'secretKey' | 'webUrl'>,
  { accountId, proposed, subject, what, also, isInForce = false, now }: WalletMail,
): Promise<void> {
  for (const to of await selectOwnerEmails(tx, accountId)) {
    const link = await issueHoldLink(tx, people, { about: proposed, accountId, to, now });
    const text =
      `${what}\n\nIf this is not what you want, stop it: open this link and click the button:\n\n` +
      `${link}\n\nIt ${isInForce ? '' : 'cancels the new wallet on the contract and '}holds all ` +
      'payouts of the service until an owner lifts the hold. The link works once, for 72 hours. ' +
      `Opening it changes nothing.\n${also === '' ? '' : `\n${also}\n`}`;
    const buttons = [{ url: link, name: 'Stop it' }];
    await queueMail(tx, people.secretKey, { to, subject, text, buttons, now });
  }
}
