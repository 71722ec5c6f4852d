import type { Refusal } from '#core/answer.ts';
import { type Asks, asksOf, isSerious } from '#http/moves.ts';
import type { AnyRoute } from '#http/route.ts';
import { factorTooNew, isFactorTrusted } from '#people/factor-trust.ts';
import type { SessionRow } from '#people/session-queries.ts';
import { factorNotFresh, isFactorFresh } from '#people/sessions.ts';

/** Whether somebody at this session has just said yes with a factor that counts. */
export function factorRefusal(session: SessionRow, now: Date): Refusal | null {
  if (!isFactorFresh(session.second_factor_at, now)) return factorNotFresh();
  const { factor_trusted_from: from } = session;
  return from === null || isFactorTrusted(from, now) ? null : factorTooNew(from);
}

/** What is asked about, and in which network. */
export interface Asked {
  readonly session: SessionRow;
  readonly now: Date;
  /** Live mode, or a whole account that is live. */
  readonly isRealMoney: boolean;
  /** Nothing there is real: somebody without any factor shows the password instead. */
  readonly isSandbox: boolean;
}

/** For access and names. Money asks for a factor in a sandbox, too. */
export function accessRefusal(asked: Omit<Asked, 'isRealMoney'>): Refusal | null {
  const { session, now, isSandbox } = asked;
  const hasJustSignedIn = isFactorFresh(session.created, now);
  if (isSandbox && !session.has_factor && hasJustSignedIn) return null;
  return factorRefusal(session, now);
}

/** What consent reads of a route's declaration. */
export type Declared = Pick<
  AnyRoute,
  'moves' | 'asks' | 'alone' | 'unmailed' | 'access' | 'path' | 'method'
>;

/** All that follows from what a route of people says it moves. Nobody decides it anywhere else. */
export interface Consent {
  /** When a fresh factor is asked for. */
  readonly asks: Asks;
  /** With real money at stake owners get a mail in the change's transaction. Its link stops it. */
  readonly mails: boolean;
  /** The audit log of the account, or of the network, has an entry in the same transaction. */
  readonly isRecorded: boolean;
  /** A colleague has to agree, where there is one. */
  readonly fourEyes: boolean;
  /** `staff`: counted apart, because one of the staff can do it to everybody. */
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

/** Staff confirm every change; an account's people what the route's declaration says. */
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
