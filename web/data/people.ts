import { type Answer, type Api, type ApiRequest, createApi } from './api.ts';
import { type Call, createCall } from './routes.ts';
import type { MerchantReadSessionResponse, Operations } from './types/dashboard.ts';

/** The person who is signed in, and the memberships: the same on both surfaces. */
export type Session = MerchantReadSessionResponse;

type OwnRoute =
  | `${string} /dashboard/v1/session${string}`
  | `${string} /dashboard/v1/me${string}`
  | `${string} /dashboard/v1/password_reset${string}`;

/** What staff and merchants' people do alike: sign in, and look after their own access. */
export type OwnOperations = Pick<Operations, keyof Operations & OwnRoute>;

/** The surface that a browser speaks to after signing in. */
export interface PeopleApi {
  readonly realm: 'dashboard' | 'operator';
  /** Every request carries the session's token against forged ones. */
  readonly api: Api;
  /** Routes that both surfaces have. */
  readonly call: Call<OwnOperations, '/dashboard/v1'>;
  /** Called when the service says that the session has ended. */
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
      // Another window has signed in again: its session is this one's too.
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
