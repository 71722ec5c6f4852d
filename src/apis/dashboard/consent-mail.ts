import type { AccountRow, SettingsUpdate } from '#accounts/account-queries.ts';
import { accessRefusal } from '#apis/dashboard/consent.ts';
import type { Refusal } from '#core/answer.ts';
import type { Tenant } from '#core/mode.ts';
import type { Tx } from '#db/database.ts';
import { accountInMail } from '#people/mail-words.ts';
import { selectOwnerEmails } from '#people/membership-queries.ts';
import type { PeopleDeps } from '#people/people.ts';
import { mailChange } from '#people/person-links.ts';
import type { SessionRow } from '#people/session-queries.ts';

/** Mails every owner about a change of the account's access or name, with a link that stops it. */
export async function mailAccountChange(
  tx: Tx,
  people: PeopleDeps,
  done: {
    readonly session: SessionRow;
    readonly tenant: Tenant;
    /** The route's summary: `A new API key`. */
    readonly summary: string;
    /** The subject of the change, as a sentence. */
    readonly detail?: string | null;
    readonly now: Date;
  },
): Promise<void> {
  const { session, tenant, summary, detail = null, now } = done;
  const account = accountInMail(session.account_name ?? '');
  await mailChange(tx, people, {
    userId: session.user_id,
    accountId: tenant.accountId,
    what: [`${session.email} did this in ${account}: ${summary}.`, detail ?? ''].join(' ').trim(),
    subject: 'Access to your Tapline account changed',
    to: await selectOwnerEmails(tx, tenant.accountId),
    now,
  });
}

/** True if the name under which a verified business is paid, or a refund limit, changes. */
function isSensitive(before: AccountRow, after: SettingsUpdate): boolean {
  return (
    (before.kyb_status === 'approved' && before.name !== after.name) ||
    before.refund_daily_limit !== after.refund_daily_limit ||
    before.refund_window_days !== after.refund_window_days
  );
}

/** Requires a fresh factor for sensitive settings, and mails the owners. */
export function mayChangeSettings(
  people: PeopleDeps,
  by: { readonly session: SessionRow; readonly tenant: Tenant; readonly now: Date },
) {
  return (tx: Tx) =>
    async (before: AccountRow, after: SettingsUpdate): Promise<Refusal | null> => {
      if (!isSensitive(before, after)) return null;
      const isSandbox = people.factorAgeMs === 0;
      const refused = accessRefusal({ ...by, isSandbox });
      if (refused !== null) return refused;
      const summary = 'Change the name or the limits of refunds';
      await mailAccountChange(tx, people, { ...by, summary });
      return null;
    };
}
