import type { Tx } from '#db/database.ts';
import { queueMail } from '#people/mail.ts';
import { selectOwnerEmails } from '#people/membership-queries.ts';

/** Mails every owner about the account's money. */
export async function mailOwners(
  tx: Tx,
  about: { readonly accountId: string; readonly secretKey: Buffer; readonly now: Date },
  content: { readonly subject: string; readonly text: string },
): Promise<void> {
  for (const to of await selectOwnerEmails(tx, about.accountId)) {
    await queueMail(tx, about.secretKey, { to, ...content, now: about.now });
  }
}
