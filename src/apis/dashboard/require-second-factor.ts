import type { Refusal } from '#core/answer.ts';
import type { AnyRoute } from '#http/route.ts';
import { type Asks, asksOf, isSerious } from '#http/second-factor-by-effect.ts';
import { factorTooNew, isFactorTrusted } from '#people/new-factor-delay.ts';
import type { SessionRow } from '#people/session-queries.ts';
import { factorNotFresh, isFactorFresh } from '#people/sessions.ts';

/** Returns a refusal unless the session has freshly verified a trusted factor. */
export function factorRefusal(session: SessionRow, now: Date): Refusal | null {
  if (!isFactorFresh(session.second_factor_at, now)) return factorNotFresh();
  const { factor_trusted_from: from } = session;
  return from === null || isFactorTrusted(from, now) ? null : factorTooNew(from);
}

/** The session and network of the request. */
export interface Asked {
  readonly session: SessionRow;
  readonly now: Date;
  /** True in live mode; on paths without a mode, true for a live account. */
  readonly isRealMoney: boolean;
  /** True in a sandbox, where a person without any factor confirms with the password instead. */
  readonly isSandbox: boolean;
}

/**
 * Returns the refusal for a change of access or names. Unlike a payment, such a change needs no
 * factor in a sandbox if the user has none and has just signed in.
 */
export function accessRefusal(asked: Omit<Asked, 'isRealMoney'>): Refusal | null {
  const { session, now, isSandbox } = asked;
  const hasJustSignedIn = isFactorFresh(session.created, now);
  if (isSandbox && !session.has_factor && hasJustSignedIn) return null;
  return factorRefusal(session, now);
}

/** The properties of a route's declaration from which its consent rules follow. */
export type Declared = Pick<
  AnyRoute,
  'moves' | 'asks' | 'alone' | 'unmailed' | 'access' | 'path' | 'method'
>;

/** The consent rules of a route for people, all derived from the `moves` that it declares. */
export interface Consent {
  /** Condition under which a fresh factor is required. */
  readonly asks: Asks;
  /**
   * True if the owners get an email, with a link that stops the change, in the change's
   * transaction. Applies when real money is at stake.
   */
  readonly mails: boolean;
  /**
   * True if the audit log of the account, or of the network, gets an entry in the same transaction.
   */
  readonly isRecorded: boolean;
  /** True if another operator must approve the change, unless there is no other operator. */
  readonly fourEyes: boolean;
  /** `staff` is counted separately, because one staff member can affect every account. */
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
 * Returns the refusal for a request whose route requires consent. Staff confirm every change; for
 * an account's users the route's declaration decides.
 */
export function consentRefusal(route: Declared, asked: Asked): Refusal | null {
  const { asks } = consentOf(route);
  if (asks === 'never' || asks === 'own') return null;
  if (asks === 'live' && !asked.isRealMoney) return null;
  const { session, now } = asked;
  if (asks === 'fresh')
    return isFactorFresh(session.second_factor_at, now) ? null : factorNotFresh();
  const isForAll = route.access === 'operator' || route.moves === 'money';
  return isForAll ? factorRefusal(session, now) : accessRefusal(asked);
}
