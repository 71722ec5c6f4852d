import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import fc from 'fast-check';
import { type Dispatcher, Pool } from 'undici';
import type { Doc } from '#http/openapi-schemas.ts';
import { createAnswerCheck } from '#testing/check-answer.ts';
import { type FuzzRequest, fuzzRequests, type KnownIds } from '#testing/fuzz.ts';

/** The seed: `FUZZ_SEED` reproduces a run. */
export const FUZZ_SEED = Number(process.env.FUZZ_SEED ?? randomInt(2 ** 31));
/** Requests are generated and sent in portions, because generating all at once takes memory. */
const PORTION = 1_000;
const CONCURRENCY = 24;
const MORE = 5;
/**
 * Time limit. Some requests wait 20 s for an unreachable chain; none should take longer than this.
 */
const HANG_MS = 45_000;

const REQUEST_TIMEOUT = 408;

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
  return new Error(`FUZZ_SEED=${FUZZ_SEED}: ${shown}\n${message}`, { cause: error });
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
    const portion = fc.sample(requests, { numRuns, seed: FUZZ_SEED + sent }).values();
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
