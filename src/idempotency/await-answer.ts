import { isClientGone } from '#core/abort-reason.ts';
import type { Answer } from '#core/answer.ts';
import { present } from '#core/assert.ts';
import type { Clock } from '#core/clock.ts';
import { perProcess } from '#core/once-per-process.ts';
import { createBatcher } from '#db/batching.ts';
import type { Sql } from '#db/database.ts';
import { CommitUnknown, type Database, DatabaseUnavailable } from '#db/database.ts';
import type { LongPolls } from '#db/long-polls.ts';
import { type KeyRow, selectKey, selectKeys, updateCompleted } from '#idempotency/key-queries.ts';
import { type IdempotentRequest, keyOf } from '#idempotency/request-fingerprint.ts';

const MAX_IN_FLIGHT = 2;
/**
 * Maximum number of keys per read: enough for all payments of a block, whose requests are answered
 * at the same time.
 */
const MAX_KEYS = 128;

const batcherOf = perProcess(({ db }: { readonly db: Sql }) =>
  createBatcher<{ request: IdempotentRequest; now: Date }, KeyRow | undefined>({
    run: async (inputs) => {
      const now = new Date(Math.max(...inputs.map((one) => one.now.getTime())));
      const requests = inputs.map(({ request }) => request);
      const rows = await selectKeys(db, requests, now);
      return requests.map((request) => rows.get(keyOf(request)));
    },
    maxInFlight: MAX_IN_FLIGHT,
    maxItems: MAX_KEYS,
  }),
);

/**
 * Returns the row of a request's key, if the row exists and has not expired. Keys requested at the
 * same time are read with one statement.
 */
export function readKey(
  ctx: { readonly db: Sql },
  request: IdempotentRequest,
  now: Date,
): Promise<KeyRow | undefined> {
  return batcherOf(ctx).add({ request, now });
}

export interface Awaited<T> {
  /** The long-poll registry in which the request waits for the object's ID. */
  readonly polls: LongPolls<T>;
  readonly resource: string;
  /** True if the object is in a state in which the work is done. */
  readonly isDone: (object: T) => boolean;
  readonly waitMs: number;
  /** Renders the object as the response: the final one or, after the time-out, the interim one. */
  readonly answer: (object: T) => Answer;
  /** `null` if the client sent no key. */
  readonly request: IdempotentRequest | null;
  /** Aborts when the client disconnects, or the process ends. */
  readonly gone?: AbortSignal;
}

interface Waiting {
  readonly db: Database;
  readonly clock: Clock;
}

function answerOf(row: KeyRow | undefined): Answer | undefined {
  if (row?.status !== 'completed') return undefined;
  return {
    status: present(row.response_status, 'stored status'),
    body: present(row.response_body, 'stored body'),
  };
}

async function readStored(ctx: Waiting, request: IdempotentRequest): Promise<Answer | undefined> {
  return answerOf(await readKey(ctx, request, ctx.clock.now()));
}

/**
 * Stores this response, unless the worker has already stored the final one.
 * @returns the stored response.
 */
async function store(
  ctx: Waiting,
  request: IdempotentRequest,
  kept: { readonly answer: Answer; readonly resource: string; readonly changes: number },
): Promise<Answer> {
  const stored = await readStored(ctx, request);
  if (stored !== undefined) return stored;
  return ctx.db.transaction(async (tx) => {
    await updateCompleted(tx, request, { ...kept.answer, resource: kept.resource });
    const row = await selectKey(tx, request.tenant, { ...request, now: ctx.clock.now() });
    const answer = answerOf(row);
    if (answer === undefined && isLost(ctx, kept.changes)) throw lostMeanwhile();
    return present(answer, 'stored response');
  });
}

/** True if the database was restored to an earlier state while the request waited. */
function isLost({ db }: Waiting, changes: number): boolean {
  return db.watch.changes !== changes;
}

function lostMeanwhile(): CommitUnknown {
  return new CommitUnknown(
    'the database was restored to an earlier state before the response was ready',
  );
}

/**
 * Waits until the work of a claimed request is done, and returns the response that the worker
 * stored with the outcome. After the time-out, the object's current state becomes the response,
 * unless the final response was stored first. The caller and every replay get the stored response.
 * @throws CommitUnknown if the database becomes unreachable, or is restored to a state before the
 * request: the work may continue, so no caller may be told that nothing was done.
 */
export async function awaitAnswer<T>(ctx: Waiting, awaited: Awaited<T>): Promise<Answer> {
  const { polls, resource, waitMs, request, gone } = awaited;
  const { changes } = ctx.db.watch;
  const answerNow = async (object: T) => {
    const answer = awaited.answer(object);
    // A disconnected client reads no response, so the key keeps waiting for the final one.
    if (request === null || isClientGone(gone)) return answer;
    return store(ctx, request, { answer, resource, changes });
  };
  const read = async () => {
    const object = await polls.read(resource);
    if (object === undefined && isLost(ctx, changes)) throw lostMeanwhile();
    return present(object, 'object of a request');
  };
  let isRung = false;
  const look = async () => {
    // Usually the worker stored the response before it woke this request, so the object need not be
    // read.
    const stored = isRung && request !== null ? await readStored(ctx, request) : undefined;
    isRung = true;
    if (stored !== undefined) return stored;
    const object = await read();
    return awaited.isDone(object) ? answerNow(object) : undefined;
  };
  try {
    const limits = gone === undefined ? { waitMs } : { waitMs, gone };
    return (await polls.until(resource, limits, look)) ?? (await answerNow(await read()));
  } catch (error) {
    if (!(error instanceof DatabaseUnavailable)) throw error;
    throw new CommitUnknown('the database became unreachable before the response was ready', {
      cause: error,
    });
  }
}
