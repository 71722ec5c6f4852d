import { queueMail } from '#accounts/mail.ts';
import { selectOwnerEmails } from '#accounts/membership-queries.ts';
import type { Tx } from '#db/database.ts';

/** Every owner hears of what concerns the account's money. */
export async function mailOwners(
  tx: Tx,
  of: { readonly accountId: string; readonly secretKey: Buffer; readonly now: Date },
  news: { readonly subject: string; readonly text: string },
): Promise<void> {
  for (const to of await selectOwnerEmails(tx, of.accountId)) {
    await queueMail(tx, of.secretKey, { to, ...news, now: of.now });
  }
}
