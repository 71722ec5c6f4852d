import { t } from '../ui/text/t.ts';
import { type Answer, type Api, type ApiError, type ApiRequest, createApi } from './api.ts';
import { fromRoot } from './root-path.ts';
import { within } from './run-within.ts';
import type {
  AgentToken,
  AgentTokenList,
  Card,
  CardList,
  Confirmation,
  CreateAgentTokenBody,
  CreateApprovalBody,
  CreateCardBody,
  CreatePayerNonceResponse,
  CreateTransferBody,
  ListPayerNetworksResponse,
  NewAgentToken,
  NewCard,
  NewPass,
  Pass,
  PassCode,
  PassList,
  Payer,
  PayerPaymentList,
  PayerRequest,
  PayerSession,
  Push,
  RotatingKey,
  SaveLink,
  UpdatePayerLimitsBody,
  Wallet,
  WalletUpdates,
} from './types/payer.ts';

export type {
  AgentToken,
  Card,
  Confirmation,
  CreateApprovalBody,
  CreateTransferBody,
  NewAgentToken,
  NewCard,
  NewPass,
  Pass,
  PassCode,
  Payer,
  PayerNetwork,
  PayerPayment,
  PayerRequest,
  PaymentResult,
  Wallet,
} from './types/payer.ts';

export interface PayerApi {
  /**
   * Returns the service's current time in milliseconds, estimated from its last response. The
   * device's clock may be wrong.
   */
  now(): number;
  me(): Promise<Answer<Payer>>;
  wallet(): Promise<Answer<Wallet>>;
  approve(body: CreateApprovalBody): Promise<Answer<PayerRequest>>;
  request(id: string): Promise<Answer<PayerRequest>>;
  /** Sending the same body again does not transfer twice. */
  transfer(body: CreateTransferBody): Promise<Answer<PayerRequest>>;
  faucet(): Promise<Answer<PayerRequest>>;
  passes(cursor: string | null): Promise<Answer<PassList>>;
  createPass(label: string): Promise<Answer<NewPass>>;
  revokePass(id: string): Promise<Answer<Pass>>;
  createPassCode(id: string): Promise<Answer<PassCode>>;
  /**
   * Creates the key for codes that the phone computes. Codes of the previous key become invalid.
   */
  createRotatingKey(id: string): Promise<Answer<RotatingKey>>;
  /** Returns a .pkpass file. */
  applePass(id: string): Promise<Answer<Blob>>;
  googlePass(id: string): Promise<Answer<SaveLink>>;
  cards(cursor: string | null): Promise<Answer<CardList>>;
  createCard(body: CreateCardBody): Promise<Answer<NewCard>>;
  changeCard(id: string, body: CreateCardBody): Promise<Answer<Card>>;
  revokeCard(id: string): Promise<Answer<Card>>;
  /** Used by parts that load later. */
  readonly ask: Api;
  changeLimits(body: UpdatePayerLimitsBody): Promise<Answer<Payer>>;
  payments(cursor: string | null): Promise<Answer<PayerPaymentList>>;
  /** Long-polls until a confirmation opens or closes, or a payment ends. */
  updates(poll: {
    readonly waitS: number;
    /** The cursor of the last response; `undefined` for what ends from now on. */
    readonly after: string | undefined;
    readonly signal: AbortSignal;
  }): Promise<Answer<WalletUpdates>>;
  confirmation(intent: string): Promise<Answer<Confirmation>>;
  answer(intent: string, yes: boolean): Promise<Answer<Confirmation>>;
  /** Returns the service's Web Push key, and this browser's subscription to notifications. */
  push(): Promise<Answer<Push>>;
  savePush(endpoint: string): Promise<Answer<Push>>;
  endPush(): Promise<Answer<Push>>;
  agentTokens(cursor: string | null): Promise<Answer<AgentTokenList>>;
  createAgentToken(body: CreateAgentTokenBody): Promise<Answer<NewAgentToken>>;
  revokeAgentToken(id: string): Promise<Answer<AgentToken>>;
  signOut(): Promise<Answer<null>>;
}

const ROOT = 'api/payer/v1';
const QUICK_TIMEOUT_MS = 10_000;
/**
 * Longer than the 20 s for which the service waits for the chain before it responds `pending` or
 * `processing`.
 */
const CHAIN_TIMEOUT_MS = 27_000;
/** Extra time on top of a long poll's own wait. */
const POLL_GRACE_MS = 5_000;

const open = createApi({ root: ROOT });

export function listNetworks(): Promise<Answer<ListPayerNetworksResponse>> {
  return open({ path: '/networks', timeoutMs: QUICK_TIMEOUT_MS });
}

export function createNonce(): Promise<Answer<CreatePayerNonceResponse>> {
  return open({ method: 'POST', path: '/sign_in/nonce', timeoutMs: QUICK_TIMEOUT_MS });
}

export function signInPayer(body: {
  readonly message: string;
  readonly signature: string;
}): Promise<Answer<PayerSession>> {
  return open({ method: 'POST', path: '/sign_in', body, timeoutMs: QUICK_TIMEOUT_MS });
}

export function signPayerAgain(
  token: string,
  body: { readonly message: string; readonly signature: string },
): Promise<Answer<Payer>> {
  const headers = () => ({ Authorization: `Bearer ${token}` });
  const send = createApi({ root: ROOT, headers });
  return send({ method: 'POST', path: '/sign_in/again', body, timeoutMs: QUICK_TIMEOUT_MS });
}

/** Safe to retry after any failure, because the request only reads. */
async function fetchFile(path: string, token: string): Promise<Answer<Blob>> {
  try {
    return await within({ ms: QUICK_TIMEOUT_MS }, async (signal) => {
      const headers = { Authorization: `Bearer ${token}` };
      const response = await fetch(fromRoot(`${ROOT}${path}`), { headers, signal });
      const { ok, status } = response;
      if (ok) return { is: 'done', value: await response.blob(), status, serverTime: null };
      const { error } = (await response.json()) as { readonly error: ApiError };
      return { is: 'refused', error, status };
    });
  } catch {
    return { is: 'not_sent' };
  }
}

export interface SessionEvents {
  /** Called when the session has ended and the user must sign in again. */
  onEnded(): void;
  /**
   * Asks the wallet to sign for the request.
   * @returns true if it signed, so that a retry can succeed.
   */
  signAgain(): Promise<boolean>;
}

function notSigned(error: ApiError): ApiError {
  return { ...error, message: t('wallet.problem.not_signed'), isTranslated: true };
}

export function createPayerApi(token: string, events: SessionEvents): PayerApi {
  const send = createApi({ root: ROOT, headers: () => ({ Authorization: `Bearer ${token}` }) });
  let offset = 0;
  const signed = async <T>(ask: () => Promise<Answer<T>>): Promise<Answer<T>> => {
    let answer = await ask();
    if (answer.is === 'refused' && answer.error.code === 'second_factor_required') {
      if (!(await events.signAgain())) return { ...answer, error: notSigned(answer.error) };
      answer = await ask();
    }
    if (answer.is === 'refused' && answer.status === 401) events.onEnded();
    if (answer.is === 'done' && answer.serverTime !== null) offset = answer.serverTime - Date.now();
    return answer;
  };
  const api = <T>(request: ApiRequest) =>
    signed(() => send<T>({ timeoutMs: QUICK_TIMEOUT_MS, ...request }));
  const post = <T>(path: string, body?: unknown, timeoutMs = QUICK_TIMEOUT_MS) =>
    api<T>({ method: 'POST', path, timeoutMs, ...(body === undefined ? {} : { body }) });
  const page = (cursor: string | null) => ({ limit: 20, cursor: cursor ?? undefined });
  return {
    now: () => Date.now() + offset,
    me: () => api({ path: '/me' }),
    wallet: () => api({ path: '/approvals' }),
    approve: (body) => post('/approvals', body, CHAIN_TIMEOUT_MS),
    request: (id) => api({ path: `/approvals/${id}` }),
    transfer: (body) => post('/transfers', body, CHAIN_TIMEOUT_MS),
    faucet: () => post('/faucet', {}, CHAIN_TIMEOUT_MS),
    passes: (cursor) => api({ path: '/passes', query: page(cursor) }),
    createPass: (label) => post('/passes', label === '' ? {} : { label }),
    revokePass: (id) => api({ method: 'DELETE', path: `/passes/${id}` }),
    createRotatingKey: (id) => post(`/passes/${id}/rotating_key`),
    applePass: (id) => signed(() => fetchFile(`/passes/${id}/apple`, token)),
    googlePass: (id) => api({ path: `/passes/${id}/google` }),
    createPassCode: (id) => post(`/passes/${id}/codes`),
    cards: (cursor) => api({ path: '/cards', query: page(cursor) }),
    createCard: (body) => post('/cards', body),
    changeCard: (id, body) => api({ method: 'PATCH', path: `/cards/${id}`, body }),
    revokeCard: (id) => api({ method: 'DELETE', path: `/cards/${id}` }),
    ask: api,
    changeLimits: (body) => api({ method: 'PATCH', path: '/limits', body }),
    payments: (cursor) => api({ path: '/payments', query: page(cursor) }),
    updates: ({ waitS, after, signal }) =>
      api({
        path: '/updates',
        query: { wait: waitS, after },
        signal,
        timeoutMs: waitS * 1000 + POLL_GRACE_MS,
      }),
    confirmation: (intent) => api({ path: `/confirmations/${intent}` }),
    answer: (intent, yes) =>
      post(`/confirmations/${intent}/${yes ? 'approve' : 'reject'}`, undefined, CHAIN_TIMEOUT_MS),
    push: () => api({ path: '/push' }),
    savePush: (endpoint) => api({ method: 'PUT', path: '/push', body: { endpoint } }),
    endPush: () => api({ method: 'DELETE', path: '/push' }),
    agentTokens: (cursor) => api({ path: '/agent_tokens', query: page(cursor) }),
    createAgentToken: (body) => post('/agent_tokens', body),
    revokeAgentToken: (id) => api({ method: 'DELETE', path: `/agent_tokens/${id}` }),
    signOut: () => post('/sign_out'),
  };
}
