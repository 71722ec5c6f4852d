import assert from 'node:assert/strict';
import fc from 'fast-check';
import { type Dispatcher, Pool } from 'undici';
import { buildApi } from '#app/api-role.ts';
import { declaredRoutes } from '#app/declared-routes.ts';
import { surfaceDocuments } from '#app/surface-documents.ts';
import { present } from '#core/assert.ts';
import type { Doc } from '#http/openapi-schemas.ts';
import { createTestIntent, startTestApi, type TestApi } from '#testkit/apis/api.ts';
import {
  addShiftReport,
  addTestPayment,
  keepRefunding,
  LOCAL_WEBHOOKS,
} from '#testkit/apis/api-objects.ts';
import { createAnswerCheck } from '#testkit/apis/check-answer.ts';
import { SEED } from '#testkit/fixtures/core/random.ts';
import { type FuzzRequest, fuzzRequests, type KnownIds } from '#testkit/simulation/fuzz.ts';
import { repeatTest, requireKept, type Step } from '#testkit/simulation/history.ts';

/**
 * Number of requests that are generated and sent together. Generating all of them first would take
 * too much memory.
 */
const PORTION = 1_000;
const CONCURRENCY = 24;
const MORE = 5;
/**
 * One in this many requests to a route that deletes is sent as the objects' owner. More would
 * delete the objects that other routes need.
 */
const DELETIONS = 10;
/**
 * Time limit of a request. Some requests wait 20 s for an unreachable chain, but none should take
 * longer than this.
 */
const HANG_MS = 45_000;

const REQUEST_TIMEOUT = 408;

const REST_MS = 10_000;
/**
 * Invariants that the test's events and endpoints violate: the events have no object, and no server
 * receives the deliveries.
 */
const OF_WEBHOOKS = [
  'no event is about an intent, a payment or a refund that its account does not have',
  'no delivery to a working endpoint is left pending',
];
/** Invariants that `addTestPayment` violates, because it adds no job, pass or events. */
const OF_TEST_PAYMENTS = [
  'each payment has one settlement job, which has succeeded or is sent again',
  'a payment uses a credential of its payer, within the terms of the credential',
  'each payment has one event of its success and one of its cashback',
  'each intent has one event of its creation and one of its end',
];

/**
 * Returns a pattern for the violations that the test's own set-up caused before the first request.
 */
async function ownViolations({ db }: TestApi): Promise<RegExp> {
  const rows = await db.query<{ ids: string }>(
    `select id || '|' || payment_intent_id as ids from payments`,
  );
  const made = rows.map(({ ids }) => ids).join('|') || '(?!)';
  const ofPayments = `(${OF_TEST_PAYMENTS.join('|')}): (${made})\\b`;
  return new RegExp(`^((${OF_WEBHOOKS.join('|')}): |${ofPayments})`);
}

/** Starts an API that may send webhooks to this machine, and whose refunds succeed. */
export async function startFuzzedApi(): Promise<TestApi> {
  const api = await startTestApi({ build: buildApi, env: LOCAL_WEBHOOKS });
  const refunding = keepRefunding(api);
  const close = async () => {
    await refunding.stop();
    await api.close();
  };
  return { ...api, close };
}

/** Creates objects of the merchant. Every API shows them in some form. */
export async function knownObjects(
  api: TestApi,
  { intents = 30, payments = 10 } = {},
): Promise<Record<'acct_' | 'key_' | 'pi_' | 'pay_' | 'shf_' | 'tml_', string[]>> {
  const { accountId, test } = api.merchant;
  const times = async (count: number, make: () => Promise<{ readonly id: string }>) => {
    const ids: string[] = [];
    for (let i = 0; i < count; i++) ids.push((await make()).id);
    return ids;
  };
  return {
    // Repeated, so that random paths often name this account: most dashboard routes begin with an
    // account.
    acct_: Array(4).fill(accountId),
    key_: [test.keyId],
    pi_: await times(intents, () => createTestIntent(api)),
    pay_: await times(payments, () => addTestPayment(api.db, test)),
    shf_: await times(1, () => addShiftReport(api.db, test)),
    tml_: [test.terminal],
  };
}

/**
 * Returns a filter for requests to these operations. It matches all but every tenth one. The run
 * sends matching requests as another caller, because they would delete objects that other routes
 * need.
 */
export function spared(operations: readonly string[]): (request: FuzzRequest) => boolean {
  const counts = new Map<string, number>();
  return ({ operationId }) => {
    if (!operations.includes(operationId)) return false;
    const count = (counts.get(operationId) ?? 0) + 1;
    counts.set(operationId, count);
    return count % DELETIONS > 0;
  };
}

/** Returns the OpenAPI document of an API other than the merchant API. */
export function documentOf(surface: string): Doc {
  const documents = surfaceDocuments(declaredRoutes());
  return present(documents[`openapi/${surface}.json`], 'document');
}

export interface FuzzRun {
  readonly document: Doc;
  readonly known: KnownIds;
  readonly requests: number;
  /**
   * Operations that the run need not reach: lists of them by reason, or (for APIs with hundreds of
   * operations) the share that it may miss. Default: it need not reach any. An operation counts as
   * reached if at least one request was not refused early. To reach the others, the run sends up to
   * MORE times as many requests.
   */
  readonly unreached?: Readonly<Record<string, readonly string[]>> | number;
  /** Returns the request's credentials: `Authorization`, or a cookie and its CSRF token. */
  headersOf(request: FuzzRequest): Readonly<Record<string, string>>;
  readonly leaveOut?: readonly string[];
  /** Checks more of a response than its OpenAPI document states. */
  onAnswer?(request: FuzzRequest, answer: FuzzAnswer): void;
  /** Path of the test file, for the command that repeats the run. */
  readonly file: string;
}

export interface FuzzAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** `null` for a stream. */
  readonly text: string | null;
}

/**
 * Returns the text of a response. Closes an event stream, which would never end, and returns `null`
 * for it.
 */
async function textOf({ headers, body }: Dispatcher.ResponseData): Promise<string | null> {
  if (!String(headers['content-type']).startsWith('text/event-stream')) return body.text();
  body.on('error', () => {}).destroy();
  return null;
}

/** The response statuses seen so far, by operation. */
type Seen = Map<string, Set<number>>;

function createSender(pool: Pool, run: FuzzRun, seen: Seen) {
  const check = createAnswerCheck(run.document);
  return async (request: FuzzRequest): Promise<void> => {
    const { method, path, headers, body, operationId } = request;
    const response = await pool.request({
      method: method as Dispatcher.HttpMethod,
      path,
      headers: { ...headers, ...run.headersOf(request) },
      body,
      headersTimeout: HANG_MS,
      bodyTimeout: HANG_MS,
    });
    const { statusCode: status } = response;
    const text = await textOf(response);
    seen.set(operationId, (seen.get(operationId) ?? new Set()).add(status));
    const shown = Object.fromEntries(
      Object.entries(response.headers).map(([name, value]) => [name, String(value)]),
    );
    const isFile = status === 200 && !/^application\/json(;|$)/.test(shown['content-type'] ?? '');
    // A 408 is not checked: it means that this machine was too slow to send the request.
    if (text !== null && !isFile && status !== REQUEST_TIMEOUT)
      check({ method, path, status, headers: shown, text });
    assert.notEqual(status, 500, text ?? '');
    run.onAnswer?.(request, { status, headers: shown, text });
  };
}

function describe(request: FuzzRequest, error: unknown): string {
  const { body, ...rest } = request;
  const shown = JSON.stringify({ ...rest, body: body?.toString('latin1').slice(0, 500) ?? null });
  return `${shown}\n${error instanceof Error ? error.message : error}`;
}

/**
 * Returns the operations that the run must still reach, with the statuses of their responses so
 * far.
 */
function missingOf({ document, leaveOut = [], unreached }: FuzzRun, seen: Seen): string[] {
  if (unreached === undefined) return [];
  const paths = document.paths as Record<string, Record<string, { readonly operationId: string }>>;
  const names = Object.values(paths).flatMap((item) =>
    Object.values(item).map(({ operationId }) => operationId),
  );
  const share = typeof unreached === 'number' ? unreached : 0;
  const excused = [...Object.values(unreached).flat(), ...leaveOut];
  const isOpen = (status: number) => status < 300 || status === 409 || status === 503;
  const missing = names
    .filter((name) => !excused.includes(name) && ![...(seen.get(name) ?? [])].some(isOpen))
    .map((name) => `${name} was never reached: ${[...(seen.get(name) ?? [])]}`);
  const unknown = excused.filter((name) => !names.includes(name));
  if (missing.length <= share * names.length) missing.length = 0;
  return [...missing, ...unknown.map((name) => `${name} is excused and does not exist`)];
}

/** Yields nearly valid requests until there are enough and all operations are reached. */
function* chosenRequests(run: FuzzRun, seen: Seen): Generator<FuzzRequest> {
  const all = fuzzRequests(run.document, run.known);
  const isEnough = (sent: number) =>
    sent >= run.requests * MORE || (sent >= run.requests && missingOf(run, seen).length === 0);
  for (let sent = 0; !isEnough(sent); sent += PORTION) {
    const left = run.requests - sent;
    const numRuns = left > 0 ? Math.min(PORTION, left) : PORTION;
    for (const one of fc.sample(all, { numRuns, seed: SEED + sent })) {
      if (run.leaveOut?.includes(one.operationId) !== true) yield one;
    }
  }
}

/**
 * Sends all requests.
 * @throws if a response is a 500 or undocumented, if an operation was not reached, or if the
 * resulting data violates an invariant
 */
export async function runFuzz(api: TestApi, run: FuzzRun): Promise<void> {
  const pool = new Pool(api.url, { connections: CONCURRENCY });
  const seen: Seen = new Map();
  const send = createSender(pool, run, seen);
  const steps = chosenRequests(run, seen).map(
    (request): Step =>
      async () => {
        await send(request).catch((error) => {
          throw new Error(describe(request, error), { cause: error });
        });
      },
  );
  await requireKept({
    ground: { db: api.db, limitMs: REST_MS, except: await ownViolations(api) },
    clients: Array(CONCURRENCY).fill(steps),
    ended: async () => missingOf(run, seen),
    repeat: repeatTest(run.file),
  });
  await pool.close();
}
