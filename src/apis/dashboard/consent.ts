import type { Refusal } from '#core/answer.ts';
import { type Asks, asksOf, isSerious } from '#http/moves.ts';
import type { AnyRoute } from '#http/route.ts';
import { factorTooNew, isFactorTrusted } from '#people/new-factor-delay.ts';
import type { SessionRow } from '#people/session-queries.ts';
import { factorNotFresh, isFactorFresh } from '#people/sessions.ts';

/** Returns the refusal, unless this session has a fresh verification by a trusted factor. */
export function factorRefusal(session: SessionRow, now: Date): Refusal | null {
  if (!isFactorFresh(session.second_factor_at, now)) return factorNotFresh();
  const { factor_trusted_from: from } = session;
  return from === null || isFactorTrusted(from, now) ? null : factorTooNew(from);
}

/** The session and network of the request. */
export interface Asked {
  readonly session: SessionRow;
  readonly now: Date;
  /** True for live mode, or for a live account as a whole. */
  readonly isRealMoney: boolean;
  /** True in a sandbox, where a person without any factor confirms with the password instead. */
  readonly isSandbox: boolean;
}

/**
 * Returns the refusal of a change of access or names. (Moving money requires a factor even in a
 * sandbox.)
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
   * True if, with real money at stake, the owners get a mail in the change's transaction, with a
   * link that stops it.
   */
  readonly mails: boolean;
  /**
   * True if the audit log of the account, or of the network, gets an entry in the same transaction.
   */
  readonly isRecorded: boolean;
  /** True if a colleague must agree, if there is one. */
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

/** Staff confirm every change. An account's people confirm as the route's declaration says. */
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
