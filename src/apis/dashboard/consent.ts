import type { Refusal } from '#core/answer.ts';
import { asksOf } from '#http/moves.ts';
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
  /** Real money is at stake. */
  readonly livemode: boolean;
  /** Nothing there is real: somebody without any factor shows the password instead. */
  readonly isSandbox: boolean;
}

/** For access and names. Money asks for a factor in a sandbox, too. */
export function accessRefusal({ session, now, isSandbox }: Asked): Refusal | null {
  const hasJustSignedIn = isFactorFresh(session.created, now);
  if (isSandbox && !session.has_factor && hasJustSignedIn) return null;
  return factorRefusal(session, now);
}

type Declared = Pick<AnyRoute, 'moves' | 'asks' | 'access' | 'method'>;

/** Staff confirm every change; an account's people what the route's declaration says. */
export function consentRefusal(route: Declared, asked: Asked): Refusal | null {
  if (route.access === 'operator') {
    return route.method === 'GET' ? null : factorRefusal(asked.session, asked.now);
  }
  const asks = asksOf(route);
  if (asks === 'never' || asks === 'own') return null;
  if (asks === 'live' && !asked.livemode) return null;
  return route.moves === 'money' ? factorRefusal(asked.session, asked.now) : accessRefusal(asked);
}
