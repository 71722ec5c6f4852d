import type { Tx } from '#db/database.ts';
import { queueMail } from '#people/mail-outbox.ts';
import { selectOwnerEmails } from '#people/membership-queries.ts';

/** Sends a mail about the account's money to every owner. */
export async function mailOwners(
  tx: Tx,
  about: { readonly accountId: string; readonly secretKey: Buffer; readonly now: Date },
  content: { readonly subject: string; readonly text: string },
): Promise<void> {
  for (const to of await selectOwnerEmails(tx, about.accountId)) {
    await queueMail(tx, about.secretKey, { to, ...content, now: about.now });
  }
}
