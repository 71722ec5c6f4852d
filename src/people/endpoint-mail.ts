import type { Tx } from '#db/database.ts';
import { queueMail } from '#people/mail-outbox.ts';
import { selectOwnerEmails } from '#people/membership-queries.ts';

const REASONS: Readonly<Record<string, string>> = {
  persistent_failure: 'no delivery to it succeeded for five days',
  gone: 'it returned 410 Gone',
};

/** Mails an account's owners when the service disables one of their webhook endpoints. */
export function notifyOwners(secretKey: Buffer) {
  return async (
    tx: Tx,
    endpoint: { readonly accountId: string; readonly url: string; readonly reason: string },
    now: Date,
  ): Promise<void> => {
    const { accountId, url, reason } = endpoint;
    const subject = 'A webhook endpoint was disabled';
    const text =
      `Tapline no longer sends events to ${url}: ${REASONS[reason] ?? reason}.\n\n` +
      'Fix the receiver, enable the endpoint in the dashboard, and replay what it missed.\n' +
      'Events are kept for 30 days.\n';
    for (const to of await selectOwnerEmails(tx, accountId)) {
      await queueMail(tx, secretKey, { to, subject, text, now });
    }
  };
}
