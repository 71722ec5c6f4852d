import type { Actor } from '#accounts/actor.ts';
import type { MerchantCaller } from '#accounts/merchant-caller.ts';
import type { Visit } from '#accounts/people.ts';
import type { Role } from '#accounts/roles.ts';
import type { SessionRow } from '#accounts/session-queries.ts';
import type { Realm } from '#accounts/user-queries.ts';
import { present } from '#core/assert.ts';
import type { ReadCookies } from '#dashboard/cookies.ts';
import type { Caller } from '#http/route.ts';

/**
 * Somebody in a browser, signed in or not. For a path below an account it also is what the
 * merchant API's caller is, so that both APIs run the very same handlers.
 */
export interface PersonCaller
  extends Caller,
    Omit<MerchantCaller, 'idempotencySpace' | 'rateKey' | 'scopes' | 'tenant' | 'apiVersion'> {
  readonly realm: Realm;
  readonly session: SessionRow | null;
  /** What the person is in the path's account; null without one, and in a foreign one. */
  readonly role: Role | null;
  readonly accountStatus: 'active' | 'disabled' | null;
  readonly cookies: ReadCookies;
  readonly visit: Visit;
  /** What an EventSource has seen last. */
  readonly lastEventId: string | null;
}

/** The session of a route that cannot be reached without one. */
export function sessionOf(caller: PersonCaller): SessionRow {
  return present(caller.session, 'session');
}

export function actorOf(caller: PersonCaller, requestId: string): Actor {
  const { user_id: userId, email } = sessionOf(caller);
  const type = caller.realm === 'operator' ? 'operator' : 'user';
  return { type, userId, email, requestId, address: caller.visit.address };
}
