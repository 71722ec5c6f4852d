import type { Tx } from '#db/database.ts';
import { queueMail } from '#people/mail.ts';
import { selectOwnerEmails } from '#people/membership-queries.ts';
import type { ProposedWallet } from '#people/owner-change-queries.ts';
import { issueHoldLink } from '#people/owner-changes.ts';
import type { PeopleDeps } from '#people/people.ts';

export interface WalletMail {
  readonly accountId: string;
  readonly proposed: ProposedWallet;
  readonly subject: string;
  /** What happens, and when. */
  readonly what: string;
  /** What to do besides pressing the link; may be empty. */
  readonly also: string;
  readonly now: Date;
}

/** Tells every owner of an announced settlement wallet, each with a link that stops it. */
export async function mailAboutWallet(
  tx: Tx,
  people: Pick<PeopleDeps, 'secretKey' | 'webUrl'>,
  { accountId, proposed, subject, what, also, now }: WalletMail,
): Promise<void> {
  for (const to of await selectOwnerEmails(tx, accountId)) {
    const link = await issueHoldLink(tx, people, { about: proposed, accountId, to, now });
    const text =
      `${what}\n\nIf this is not what you want, stop it: open this link and press the button:\n\n` +
      `${link}\n\nIt cancels the new wallet on the contract and holds all payouts of the service ` +
      'until an owner lifts the hold. The link works once, for 72 hours. Opening it changes ' +
      `nothing.\n${also === '' ? '' : `\n${also}\n`}`;
    const buttons = [{ url: link, name: 'Stop it' }];
    await queueMail(tx, people.secretKey, { to, subject, text, buttons, now });
  }
}
