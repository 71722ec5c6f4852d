import type { Answer } from '#core/answer.ts';
import { present } from '#core/assert.ts';
import type { Clock } from '#core/clock.ts';
import { isClientGone } from '#core/ending.ts';
import { CommitUnknown, type Database, DatabaseUnavailable } from '#db/database.ts';
import type { WaitingRoom } from '#db/waiting-room.ts';
import { type KeyRow, selectKey, updateCompleted } from '#idempotency/key-queries.ts';
import type { ReadKey } from '#idempotency/read-key.ts';
import type { IdempotentRequest } from '#idempotency/request.ts';

/** A request whose work goes on elsewhere, and the object that the work is about. */
export interface Awaited<T> {
  /** Where the object is waited for, by its id. */
  readonly room: WaitingRoom<T>;
  readonly resource: string;
  /** Whether the work is done in this state. */
  readonly isDone: (object: T) => boolean;
  readonly waitMs: number;
  /** The object as an answer: the final one, or the one when time is up. */
  readonly answer: (object: T) => Answer;
  /** Absent when the client sent no key. */
  readonly request: IdempotentRequest | null;
  /** The client is gone, or the process ends. */
  readonly gone?: AbortSignal;
}

export interface AwaitAnswerDeps {
  readonly db: Database;
  readonly readKey: ReadKey;
  readonly clock: Clock;
}

function answerOf(row: KeyRow | undefined): Answer | undefined {
  if (row?.status !== 'completed') return undefined;
  return {
    status: present(row.response_status, 'stored status'),
    body: present(row.response_body, 'stored body'),
  };
}

async function readStored(
  { readKey, clock }: AwaitAnswerDeps,
  request: IdempotentRequest,
): Promise<Answer | undefined> {
  return answerOf(await readKey(request, clock.now()));
}

/** The response that is stored first counts: this one, unless the worker has stored the final. */
async function store(
  deps: AwaitAnswerDeps,
  request: IdempotentRequest,
  kept: { readonly answer: Answer; readonly resource: string; readonly changes: number },
): Promise<Answer> {
  const stored = await readStored(deps, request);
  if (stored !== undefined) return stored;
  return deps.db.transaction(async (tx) => {
    await updateCompleted(tx, request, { ...kept.answer, resource: kept.resource });
    const row = await selectKey(tx, request.tenant, { ...request, now: deps.clock.now() });
    const answer = answerOf(row);
    if (answer === undefined && isLost(deps, kept.changes)) throw lostMeanwhile();
    return present(answer, 'stored response');
  });
}

/** The database was put back to an earlier state while the request waited. */
function isLost({ db }: AwaitAnswerDeps, changes: number): boolean {
  return db.watch.changes !== changes;
}

function lostMeanwhile(): CommitUnknown {
  return new CommitUnknown('the database was put back before the answer came');
}

/**
 * Waits until the work that a claimed request started is done, and answers with the response that
 * the worker stored together with the work's outcome. When time is up the object's present state
 * becomes the response, unless the final one came first: the caller, and every replay, get the one
 * that is stored.
 * @throws CommitUnknown when the database goes away, or is put back to a state before the request:
 * the work may go on, so no caller may be told that nothing was done.
 */
export async function awaitAnswer<T>(deps: AwaitAnswerDeps, awaited: Awaited<T>): Promise<Answer> {
  const { room, resource, waitMs, request, gone } = awaited;
  const { changes } = deps.db.watch;
  const answerNow = async (object: T) => {
    const answer = awaited.answer(object);
    // Nobody reads an answer to a client that is gone: the key goes on waiting for the final one.
    if (request === null || isClientGone(gone)) return answer;
    return store(deps, request, { answer, resource, changes });
  };
  const read = async () => {
    const object = await room.read(resource);
    if (object === undefined && isLost(deps, changes)) throw lostMeanwhile();
    return present(object, 'object of a request');
  };
  let isRung = false;
  const look = async () => {
    // Who rings has usually stored the response as well, and then the object need not be read.
    const stored = isRung && request !== null ? await readStored(deps, request) : undefined;
    isRung = true;
    if (stored !== undefined) return stored;
    const object = await read();
    return awaited.isDone(object) ? answerNow(object) : undefined;
  };
  try {
    const limits = gone === undefined ? { waitMs } : { waitMs, gone };
    return (await room.until(resource, limits, look)) ?? (await answerNow(await read()));
  } catch (error) {
    if (!(error instanceof DatabaseUnavailable)) throw error;
    throw new CommitUnknown('the database went away before the answer came', { cause: error });
  }
}
