import assert from 'node:assert/strict';
import fc from 'fast-check';
import { type Dispatcher, Pool } from 'undici';
import { declaredRoutes } from '#app/declared-routes.ts';
import { surfaceDocuments } from '#app/surface-documents.ts';
import { present } from '#core/assert.ts';
import type { Doc } from '#http/openapi-schemas.ts';
import { createTestIntent, startTestApi, type TestApi } from '#testing/api.ts';
import { addTestPayment, keepRefunding, LOCAL_WEBHOOKS } from '#testing/api-objects.ts';
import { createAnswerCheck } from '#testing/check-answer.ts';
import { type FuzzRequest, fuzzRequests, type KnownIds } from '#testing/fuzz.ts';
import { SEED } from '#testing/random.ts';

/** Requests are generated and sent in portions, because generating all at once takes memory. */
const PORTION = 1_000;
const CONCURRENCY = 24;
const MORE = 5;
/**
 * Time limit. Some requests wait 20 s for an unreachable chain; none should take longer than this.
 */
const HANG_MS = 45_000;

const REQUEST_TIMEOUT = 408;

/** Starts an API with webhooks to this machine, whose refunds succeed. */
export async function startFuzzedApi(): Promise<TestApi> {
  const api = await startTestApi({ env: LOCAL_WEBHOOKS });
  const refunding = keepRefunding(api);
  const close = async () => {
    await refunding.stop();
    await api.close();
  };
  return { ...api, close };
}

/** Creates objects of the merchant, which every surface shows in its own way. */
export async function knownObjects(
  api: TestApi,
  { intents = 30, payments = 10 } = {},
): Promise<Record<'acct_' | 'key_' | 'pi_' | 'pay_' | 'tml_', string[]>> {
  const { accountId, test } = api.merchant;
  const times = async (count: number, make: () => Promise<{ readonly id: string }>) => {
    const ids: string[] = [];
    for (let i = 0; i < count; i++) ids.push((await make()).id);
    return ids;
  };
  return {
    // Most dashboard routes are below it.
    acct_: Array(4).fill(accountId),
    key_: [test.keyId],
    pi_: await times(intents, () => createTestIntent(api)),
    pay_: await times(payments, () => addTestPayment(api.db, test)),
    tml_: [test.terminal],
  };
}

/** Returns the OpenAPI document of a surface other than the merchant API. */
export function documentOf(surface: string): Doc {
  const documents = surfaceDocuments(declaredRoutes());
  return present(documents[`openapi/${surface}.json`], 'document');
}

export interface FuzzRun {
  readonly url: string;
  readonly document: Doc;
  readonly known: KnownIds;
  readonly requests: number;
  /**
   * The share of operations that must be reached, because a run in which everything is refused
   * early would also pass. Which ones are reached is random, so more requests are sent until enough
   * are, up to MORE times as many.
   */
  readonly reach?: number;
  /** Returns the credentials: `Authorization`, or a cookie with its token. */
  headersOf(request: FuzzRequest): Readonly<Record<string, string>>;
  readonly leaveOut?: readonly string[];
  /** Checks a response, in addition to the document. */
  onAnswer?(request: FuzzRequest, answer: FuzzAnswer): void;
}

export interface FuzzAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** `null` for a stream. */
  readonly text: string | null;
}

/** The number of responses by operation and status. */
export type Seen = ReadonlyMap<string, ReadonlyMap<number, number>>;

/** Returns the text of a response. An open stream has no end, so it is closed and has no text. */
async function textOf({ headers, body }: Dispatcher.ResponseData): Promise<string | null> {
  if (!String(headers['content-type']).startsWith('text/event-stream')) return body.text();
  body.on('error', () => {}).destroy();
  return null;
}

function createSender(pool: Pool, run: FuzzRun, seen: Map<string, Map<number, number>>) {
  const check = createAnswerCheck(run.document);
  return async (request: FuzzRequest): Promise<void> => {
    const { method, path, headers, body, operationId } = request;
    if (run.leaveOut?.includes(operationId)) return;
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
    const statuses = seen.get(operationId) ?? new Map<number, number>();
    seen.set(operationId, statuses.set(status, (statuses.get(status) ?? 0) + 1));
    const shown = Object.fromEntries(
      Object.entries(response.headers).map(([name, value]) => [name, String(value)]),
    );
    const isFile = status === 200 && !/^application\/json(;|$)/.test(shown['content-type'] ?? '');
    // A 408 means that the machine stalled for longer than a request may take to arrive.
    if (text !== null && !isFile && status !== REQUEST_TIMEOUT)
      check({ method, path, status, headers: shown, text });
    assert.notEqual(status, 500, text ?? '');
    run.onAnswer?.(request, { status, headers: shown, text });
  };
}

function describe(request: FuzzRequest, error: unknown): Error {
  const { body, ...rest } = request;
  const shown = JSON.stringify({ ...rest, body: body?.toString('latin1').slice(0, 500) ?? null });
  const message = error instanceof Error ? error.message : String(error);
  return new Error(`SEED=${SEED}: ${shown}\n${message}`, { cause: error });
}

/**
 * Sends all requests. @throws at the first undocumented response, at any 500, and if too few
 * operations are reached.
 */
export async function runFuzz(run: FuzzRun): Promise<Seen> {
  const requests = fuzzRequests(run.document, run.known);
  const isEnough = (sent: number) =>
    sent >= run.requests * MORE || (sent >= run.requests && isReached(seen, run.reach));
  const pool = new Pool(run.url, { connections: CONCURRENCY });
  const seen = new Map<string, Map<number, number>>();
  const send = createSender(pool, run, seen);
  for (let sent = 0; !isEnough(sent); sent += PORTION) {
    const left = run.requests - sent;
    const numRuns = left > 0 ? Math.min(PORTION, left) : PORTION;
    const portion = fc.sample(requests, { numRuns, seed: SEED + sent }).values();
    const work = Array.from({ length: CONCURRENCY }, async () => {
      for (const request of portion) {
        await send(request).catch((error) => {
          throw describe(request, error);
        });
      }
    });
    await Promise.all(work);
  }
  await pool.close();
  assert.ok(isReached(seen, run.reach), JSON.stringify(counted(seen)));
  return seen;
}

function counted(seen: Seen) {
  return [...seen].map(([name, statuses]) => [name, Object.fromEntries(statuses)] as const);
}

function isReached(seen: Seen, share = 0): boolean {
  const isOpen = (status: string) => Number(status) < 300 || ['409', '503'].includes(status);
  const reached = counted(seen).filter(([, statuses]) => Object.keys(statuses).some(isOpen));
  return reached.length >= seen.size * share;
}
