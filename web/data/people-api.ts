import { type Answer, type Api, type ApiRequest, createApi } from './api.ts';
import { type Call, createCall } from './typed-calls.ts';
import type { MerchantReadSessionResponse, Operations } from './types/dashboard.ts';

/** The signed-in user and their memberships. Both APIs return the same shape. */
export type Session = MerchantReadSessionResponse;

type OwnRoute =
  | `${string} /dashboard/v1/session${string}`
  | `${string} /dashboard/v1/me${string}`
  | `${string} /dashboard/v1/password_reset${string}`;

/**
 * Operations that the dashboard and the operator console share: signing in and managing one's own
 * account.
 */
export type OwnOperations = Pick<Operations, keyof Operations & OwnRoute>;

export interface PeopleApi {
  readonly realm: 'dashboard' | 'operator';
  /** Every request carries the session's CSRF token. */
  readonly api: Api;
  /** Routes that both APIs have. */
  readonly call: Call<OwnOperations, '/dashboard/v1'>;
  /** Registers a listener for the end of the session. */
  onEnded(listener: () => void): () => void;
}

function sessionIn(answer: Answer<unknown>): Session | null {
  if (answer.is !== 'done' || typeof answer.value !== 'object' || answer.value === null)
    return null;
  return 'csrf_token' in answer.value ? (answer.value as Session) : null;
}

function isRefusedWith(answer: Answer<unknown>, code: string): boolean {
  return answer.is === 'refused' && answer.error.code === code;
}

export function createPeopleApi(realm: PeopleApi['realm']): PeopleApi {
  let session: Session | null = null;
  const listeners = new Set<() => void>();
  const plain = createApi({
    root: `api/${realm}/v1`,
    headers: (): Record<string, string> =>
      session === null ? {} : { 'Csrf-Token': session.csrf_token },
  });
  const send: Api = async <T>(request: ApiRequest) => {
    const answer = await plain<T>(request);
    session = sessionIn(answer) ?? session;
    return answer;
  };
  const api: Api = async <T>(request: ApiRequest) => {
    const before = session;
    const answer = await send<T>(request);
    if (isRefusedWith(answer, 'csrf_token_invalid')) {
      // Another window may have signed in again. The cookie is then valid in this window as well.
      await send({ path: '/session' });
      if (before !== null && session?.user.id !== before.user.id) location.reload();
      else return send<T>(request);
    }
    if (isRefusedWith(answer, 'session_missing') && request.path !== '/session') {
      for (const listener of listeners) listener();
    }
    return answer;
  };
  return {
    realm,
    api,
    call: createCall(api),
    onEnded: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
