import type { AccountRow, SettingsUpdate } from '#accounts/account-queries.ts';
import type { SettingsChange } from '#accounts/edit-account.ts';
import { ACCOUNT_FIELDS } from '#apis/dashboard/account/account-schema.ts';
import { accessRefusal, factorRefusal } from '#apis/dashboard/sessions/require-second-factor.ts';
import { beginSchedule } from '#books/export-schedule.ts';
import { type Refusal, refuse } from '#core/answer.ts';
import type { Tenant } from '#core/mode.ts';
import { isSameLimit, type Limit, limitFrom } from '#core/shop-limit.ts';
import type { Tx } from '#db/database.ts';
import { beginPeriods } from '#payouts/automatic-payout.ts';
import { skipWaiting } from '#payouts/automatic-payout-queries.ts';
import { accountInMail } from '#people/account-name-in-mail.ts';
import { selectOwnerEmails } from '#people/membership-queries.ts';
import type { PeopleDeps } from '#people/people-context.ts';
import { mailChange } from '#people/person-links.ts';
import type { Role } from '#people/role-order.ts';
import type { SessionRow } from '#people/session-queries.ts';

/** Mails every owner about a change of an account's access or name, with a link that stops it. */
export async function mailAccountChange(
  tx: Tx,
  people: PeopleDeps,
  done: {
    readonly session: SessionRow;
    readonly tenant: Tenant;
    /** The summary of the route, such as `A new API key`. */
    readonly summary: string;
    readonly detail?: string | null;
    readonly now: Date;
  },
): Promise<void> {
  const { session, tenant, summary, detail = null, now } = done;
  const account = accountInMail(session.account_name ?? '');
  await mailChange(tx, people, {
    userId: session.user_id,
    accountId: tenant.accountId,
    what: [`${session.email} made a change in ${account}: ${summary}.`, detail ?? '']
      .join(' ')
      .trim(),
    subject: 'Access to your Tapline account changed',
    to: await selectOwnerEmails(tx, tenant.accountId),
    now,
  });
}

function dailyLimitOf(settings: SettingsUpdate): Limit {
  return limitFrom(settings.refund_daily_limit, settings.refund_daily_limit_presentment);
}

function tillLimitOf(settings: SettingsUpdate): Limit {
  return limitFrom(settings.till_refund_limit, settings.till_refund_limit_presentment);
}

/** True if the change affects refund limits, or the name of a verified business. */
function isSensitive(before: AccountRow, after: SettingsUpdate): boolean {
  return (
    (before.kyb_status === 'approved' && before.name !== after.name) ||
    !isSameLimit(dailyLimitOf(before), dailyLimitOf(after)) ||
    !isSameLimit(tillLimitOf(before), tillLimitOf(after)) ||
    before.refund_window_days !== after.refund_window_days
  );
}

/** The person who changes settings. */
interface By {
  readonly session: SessionRow;
  readonly tenant: Tenant;
  readonly role: Role | null;
  /** True if the account is live. */
  readonly isRealMoney: boolean;
  readonly now: Date;
}

type Edited = Pick<SettingsChange, 'before' | 'after'>;

/**
 * Refuses to enable automatic payouts unless an owner with a fresh factor does so, because they
 * move money. Also mails the owners. A changed payout schedule begins with the current period.
 */
async function mayPayOut(
  tx: Tx,
  people: PeopleDeps,
  { by, before, after }: Edited & { readonly by: By },
): Promise<Refusal | null> {
  const { automatic_payout: every } = after;
  if (before.automatic_payout === every) return null;
  if (by.role !== 'owner') {
    return refuse('role_missing', 'Only owners can change automatic_payout.', 'automatic_payout');
  }
  if (every === null) {
    await skipWaiting(tx, by.tenant.accountId, by.now);
    return null;
  }
  const refused = factorRefusal(by.session, by.now);
  if (refused !== null) return refused;
  const summary = 'Pay the balance out automatically';
  const detail = `The whole balance goes to the settlement wallet, ${every}.`;
  await mailAccountChange(tx, people, { ...by, summary, detail });
  await beginPeriods(tx, { account: { ...before, ...after }, now: by.now }, every);
  return null;
}

/** Lets a changed schedule of statements begin with the current period. */
async function mayScheduleExports(tx: Tx, { by, before, after }: Edited & { readonly by: By }) {
  const { export_schedule: schedule } = after;
  if (schedule === null || before.export_schedule?.every === schedule.every) return;
  await beginSchedule(tx, { account: { ...before, ...after }, now: by.now }, schedule);
}

/**
 * Returns a function that refuses to change sensitive settings without a fresh factor. It also
 * mails the owners.
 */
export function mayChangeSettings(people: PeopleDeps, by: By) {
  return (tx: Tx) =>
    async ({ before, after, changed }: SettingsChange): Promise<Refusal | null> => {
      const unpaid = await mayPayOut(tx, people, { by, before, after });
      if (unpaid !== null) return unpaid;
      await mayScheduleExports(tx, { by, before, after });
      const isOutward =
        by.isRealMoney && changed.some((name) => ACCOUNT_FIELDS[name] === 'outward');
      // A live account's owners get this in the mail about its printed settings.
      if (!by.isRealMoney && changed.includes('currency')) {
        const detail = 'Open payments, limits and reports keep their currency.';
        await mailAccountChange(tx, people, { ...by, summary: 'Change the currency', detail });
      }
      const sensitive = isSensitive(before, after);
      if (!sensitive && !isOutward) return null;
      const isSandbox = people.factorAgeMs === 0;
      const refused = accessRefusal({ ...by, isSandbox });
      if (refused !== null || !sensitive) return refused;
      const summary = 'Change the name or the limits of refunds';
      await mailAccountChange(tx, people, { ...by, summary });
      return null;
    };
}
