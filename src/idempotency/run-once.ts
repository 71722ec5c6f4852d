import { type Answer, answerRefusal, isRefusal, type Refusal } from '#core/answer.ts';
import { assert, present } from '#core/assert.ts';
import { addMs } from '#core/clock.ts';
import { Abandon, type Database, type Sql, type Tx } from '#db/database.ts';
import {
  insertClaim,
  type KeyRow,
  selectKey,
  updateCompleted,
  updateResource,
} from '#idempotency/queries.ts';
import {
  freesKey,
  IDEMPOTENCY_HOURS,
  type IdempotentRequest,
  keyReused,
  requestInProgress,
} from '#idempotency/request.ts';

const HOUR_MS = 3_600_000;

export function keyExpiry(now: Date): Date {
  return addMs(now, IDEMPOTENCY_HOURS * HOUR_MS);
}

export const REPLAYED = { 'Idempotent-Replayed': 'true' } as const;

/** The part of a key's row that decides how a repeated request is answered. */
export type StoredAnswer = Pick<
  KeyRow,
  'fingerprint' | 'status' | 'response_status' | 'response_body'
>;

/** The answer to a request whose key exists already. */
export function decideReplay(row: StoredAnswer, fingerprint: Buffer): Answer | Refusal {
  if (!row.fingerprint.equals(fingerprint)) return keyReused();
  if (row.status === 'in_progress') return requestInProgress();
  return {
    status: present(row.response_status, 'stored status'),
    body: present(row.response_body, 'stored body'),
    headers: REPLAYED,
  };
}

/**
 * Claims the request's key in this transaction, or returns the answer that its caller gets instead.
 */
export async function claim(
  tx: Tx,
  request: IdempotentRequest,
  now: Date,
): Promise<'claimed' | Answer | Refusal> {
  if (await insertClaim(tx, request, { now, expiresAt: keyExpiry(now) })) return 'claimed';
  const row = await selectKey(tx, request.tenant, { ...request, now });
  return decideReplay(present(row, 'conflicting idempotency key'), request.fingerprint);
}

/** Stores the response of a request that this transaction has claimed. */
export async function complete(
  tx: Tx,
  request: IdempotentRequest,
  answer: Answer,
  resource: string | null,
): Promise<void> {
  const stored = await updateCompleted(tx, request, { ...answer, resource });
  assert(stored, 'an idempotent request was completed twice');
}

/** The request's key stays in progress until the work of `resource` is done. */
export async function waitFor(tx: Tx, request: IdempotentRequest, resource: string): Promise<void> {
  await updateResource(tx, request, resource);
}

/** A response and the object that it is about. */
export interface Done {
  readonly answer: Answer;
  readonly resource: string | null;
}

export interface Once {
  /** Absent when the client sent no key: then the work just runs. */
  readonly request: IdempotentRequest | null;
  readonly requestId: string;
  readonly now: Date;
}

/**
 * Runs work that only writes the database: key, objects, events and stored response commit in ONE
 * transaction, so a crash leaves all or nothing. Refusals that free the key leave nothing behind;
 * all others are stored and replayed like successes.
 */
export async function runOnce(
  db: Database,
  once: Once,
  work: (tx: Tx) => Promise<Done | Refusal>,
): Promise<Answer | Refusal> {
  return db.transaction<Answer | Refusal>(async (tx) => {
    const { request } = once;
    const state = request === null ? 'claimed' : await claim(tx, request, once.now);
    if (state !== 'claimed') return state;
    const result = await work(tx);
    if (isRefusal(result) && (request === null || freesKey(result.code))) {
      return new Abandon<Answer | Refusal>(result);
    }
    const done = isRefusal(result)
      ? { answer: answerRefusal(result, once.requestId), resource: null }
      : result;
    if (request !== null) await complete(tx, request, done.answer, done.resource);
    return done.answer;
  });
}

/** The stored answer of a key that was used before. */
export async function findReplay(
  sql: Sql,
  idempotency: IdempotentRequest | null,
  now: Date,
): Promise<Answer | Refusal | null> {
  if (idempotency === null) return null;
  const row = await selectKey(sql, idempotency.tenant, { ...idempotency, now });
  return row === undefined ? null : decideReplay(row, idempotency.fingerprint);
}
