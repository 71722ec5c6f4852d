import type { Refusal } from '#core/answer.ts';
import type { AnyRoute } from '#http/route.ts';
import { type Asks, asksOf, isSerious } from '#http/second-factor-by-effect.ts';
import { factorNotFresh, isFactorFresh } from '#people/fresh-factor.ts';
import { factorTooNew, isFactorTrusted } from '#people/new-factor-delay.ts';
import type { SessionRow } from '#people/session-queries.ts';

/** Refuses unless a trusted factor was verified in this session within the last five minutes. */
export function factorRefusal(session: SessionRow, now: Date): Refusal | null {
  if (!isFactorFresh(session.second_factor_at, now)) return factorNotFresh();
  const { factor_trusted_from: from } = session;
  return from === null || isFactorTrusted(from, now) ? null : factorTooNew(from);
}

/** The facts about a request on which consent depends. */
export interface AccessCheck {
  readonly session: SessionRow;
  readonly now: Date;
  /** True in live mode; on paths without a mode, true if the account is live. */
  readonly isRealMoney: boolean;
  /** True in a sandbox. There, a person without a factor only needs to have just signed in. */
  readonly isSandbox: boolean;
}

/**
 * Refuses a change of access or names without a fresh factor. In a sandbox, a user without any
 * factor needs none within five minutes of signing in; this does not apply to payments.
 */
export function accessRefusal(check: Omit<AccessCheck, 'isRealMoney'>): Refusal | null {
  const { session, now, isSandbox } = check;
  const hasJustSignedIn = isFactorFresh(session.created, now);
  if (isSandbox && !session.has_factor && hasJustSignedIn) return null;
  return factorRefusal(session, now);
}

/** The fields of a route's declaration from which its consent rules follow. */
export type Declared = Pick<
  AnyRoute,
  'moves' | 'asks' | 'alone' | 'unmailed' | 'access' | 'path' | 'method'
>;

export interface Consent {
  /** The condition under which the caller needs a freshly verified factor. */
  readonly asks: Asks;
  /**
   * True if the owners get an email with a link that stops the change, queued in the change's
   * transaction. Applies only if real money is at stake.
   */
  readonly mails: boolean;
  /**
   * True if the change is entered in the audit log of the account or the network, in the same
   * transaction.
   */
  readonly isRecorded: boolean;
  /** True if another operator must approve the change, unless there is no other operator. */
  readonly fourEyes: boolean;
  /** Changes by staff have their own, because one staff member can affect every account. */
  readonly rate: 'usual' | 'staff';
}

const BELOW_ACCOUNT = '/accounts/{account}';

export function consentOf(route: Declared): Consent {
  const changes = route.method !== 'GET' && isSerious(route.moves);
  const byStaff = route.access === 'operator' && route.method !== 'GET';
  const isOfAccount = !byStaff && route.path.startsWith(BELOW_ACCOUNT);
  return {
    asks: byStaff ? 'always' : asksOf(route),
    mails: changes && isOfAccount && route.moves === 'access' && route.unmailed !== true,
    isRecorded: changes && (byStaff || isOfAccount),
    fourEyes: changes && byStaff && route.moves !== 'name' && route.alone !== true,
    rate: byStaff ? 'staff' : 'usual',
  };
}

/**
 * Returns the refusal if the caller's factor is not enough for the route. All changes by staff need
 * a fresh factor; for users of an account, the route's declaration decides.
 */
export function consentRefusal(route: Declared, check: AccessCheck): Refusal | null {
  const { asks } = consentOf(route);
  if (asks === 'never' || asks === 'own') return null;
  if (asks === 'live' && !check.isRealMoney) return null;
  const { session, now } = check;
  if (asks === 'fresh')
    return isFactorFresh(session.second_factor_at, now) ? null : factorNotFresh();
  const isForAll = route.access === 'operator' || route.moves === 'money';
  return isForAll ? factorRefusal(session, now) : accessRefusal(check);
}
