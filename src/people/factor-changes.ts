import { addMs } from '#core/clock.ts';
import type { Tx } from '#db/database.ts';
import { startTrust } from '#people/new-factor-delay.ts';
import type { PeopleDeps } from '#people/people-context.ts';
import { mailChange } from '#people/person-links.ts';
import type { UserRow } from '#people/user-queries.ts';

/** Time to confirm a new authenticator app: long enough to find the phone and scan a code. */
const SET_UP_MS = 10 * 60_000;

/** True if the set-up was never begun, or has expired unconfirmed. */
export function isSetUpOver({ totp_begun_at: begun }: UserRow, now: Date): boolean {
  return begun === null || addMs(begun, SET_UP_MS) <= now;
}

const WHAT = {
  totp_added: 'An authenticator app was set up for your Tapline sign-in.',
  totp_removed: 'The authenticator app for your Tapline sign-in was removed.',
  passkey_added: 'A passkey was added to your Tapline sign-in.',
  passkey_removed: 'A passkey for your Tapline sign-in was removed.',
  codes_renewed:
    'New recovery codes were created for your Tapline sign-in. The old ones no longer work.',
  code_used: 'A recovery code for your Tapline sign-in was used. It does not work again.',
} as const;

/** Mails the person about a changed factor, with a link that undoes a thief's access. */
export async function mailFactorChange(
  tx: Tx,
  people: Pick<PeopleDeps, 'secretKey' | 'webUrl'>,
  made: {
    readonly user: UserRow;
    readonly change: keyof typeof WHAT;
    readonly now: Date;
  },
): Promise<void> {
  await notify(tx, people, { ...made, trustedFrom: null });
}

export async function mailFactorAdded(
  tx: Tx,
  people: PeopleDeps,
  made: {
    /** The state before the change. */
    readonly user: UserRow;
    readonly change: 'totp_added' | 'passkey_added';
    readonly hadPasskeys: boolean;
    readonly now: Date;
  },
): Promise<void> {
  const { user, now } = made;
  const hadFactor = user.totp_confirmed_at !== null || made.hadPasskeys;
  const trustedFrom = hadFactor
    ? user.factor_trusted_from
    : await startTrust(people, tx, { userId: user.id, now });
  await notify(tx, people, { ...made, trustedFrom });
}

async function notify(
  tx: Tx,
  people: Pick<PeopleDeps, 'secretKey' | 'webUrl'>,
  made: {
    readonly user: UserRow;
    readonly change: keyof typeof WHAT;
    /** Time at which a new factor becomes trusted. */
    readonly trustedFrom: Date | null;
    readonly now: Date;
  },
): Promise<void> {
  const { user, change, trustedFrom, now } = made;
  const words =
    'If it was you, open this link and click the button. Your factor is then trusted at once for ' +
    'money and access; otherwise it is trusted after 72 hours.';
  await mailChange(tx, people, {
    userId: user.id,
    accountId: null,
    what: WHAT[change],
    subject: 'The second factor for your Tapline sign-in changed',
    to: [user.email],
    ...(trustedFrom === null ? {} : { yes: { kind: 'trust_factor', words } as const }),
    now,
  });
}

/**
 * Warns the owner about wrong codes, because the person who enters them already knows the password.
 */
export async function mailGuessed(
  tx: Tx,
  people: Pick<PeopleDeps, 'secretKey' | 'webUrl'>,
  { user, now }: { readonly user: UserRow; readonly now: Date },
): Promise<void> {
  await mailChange(tx, people, {
    userId: user.id,
    accountId: null,
    what:
      'Wrong codes were entered at your Tapline sign-in, after the correct password. Further ' +
      'attempts have to wait. If it was you, there is nothing to do.',
    subject: 'Wrong codes at your Tapline sign-in',
    to: [user.email],
    now,
  });
}
