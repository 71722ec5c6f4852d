import { type Answer, answerRefusal, isRefusal, type Refusal } from '#core/answer.ts';
import { only, present } from '#core/assert.ts';
import { type ErrorCode, statusOf } from '#core/error-codes.ts';
import { Abandon, type Database, type Sql, type Tx } from '#db/database.ts';
import { lockName } from '#db/lock-by-name.ts';
import { keyExpiry } from '#idempotency/expire-keys.ts';
import {
  insertKeys,
  type KeyRow,
  type StoredKey,
  selectKeys,
  takeKeys,
} from '#idempotency/key-queries.ts';
import { keyReused, meetUnderWay, requestInProgress } from '#idempotency/key-refusals.ts';
import { type IdempotentRequest, keyOf } from '#idempotency/request-fingerprint.ts';

/**
 * The rules of the Idempotency-Key: which responses are replayed, which are stored, and which
 * refusals free the key.
 */

/**
 * True if a refusal with this code frees the key (behavior.md 9.6): the request can be corrected
 * and sent again with the same key.
 */
export function freesKey(code: ErrorCode): boolean {
  const status = statusOf(code);
  if (status === 403) return code !== 'kyb_required';
  return status === 400 || status === 401 || status === 429 || status >= 500;
}

/** The parts of a request that decide how its key is handled. */
export interface Keyed {
  /** `null` if the client sent no key. */
  readonly idempotency: IdempotentRequest | null;
  readonly requestId: string;
  readonly now: Date;
}

export interface Done {
  readonly answer: Answer;
  /** The id of the object that the response is about. */
  readonly resource: string | null;
  /**
   * True if work on the object continues after this transaction and stores the final response. By
   * default, `answer` is final.
   */
  readonly goesOn?: boolean;
}

export interface Decided<Result> {
  readonly answer: Answer | Refusal;
  /** `null` if nothing was done, because of a replay or a refusal. */
  readonly done: Result | null;
}

/** Keyed by `keyOf`. */
export type KnownKeys = ReadonlyMap<string, KeyRow>;

export const REPLAYED = { 'Idempotent-Replayed': 'true' } as const;

/** Returns the response to a request with a known key; `null` if the key is new or missing. */
export function replayOf(
  known: KnownKeys,
  idempotency: IdempotentRequest | null,
): Answer | Refusal | null {
  const row = idempotency === null ? undefined : known.get(keyOf(idempotency));
  if (row === undefined || idempotency === null) return null;
  if (!row.fingerprint.equals(idempotency.fingerprint)) return keyReused();
  if (row.status === 'in_progress') return requestInProgress();
  return {
    status: present(row.response_status, 'stored status'),
    body: present(row.response_body, 'stored body'),
    headers: REPLAYED,
  };
}

/**
 * Decides one request with a key: the first one runs; later ones in the same batch get the refusal
 * "in progress".
 */
function meet(
  running: Map<string, IdempotentRequest>,
  idempotency: IdempotentRequest | null,
): Refusal | null {
  if (idempotency === null) return null;
  const key = keyOf(idempotency);
  const first = running.get(key);
  if (first !== undefined) return meetUnderWay(first, idempotency);
  running.set(key, idempotency);
  return null;
}

/**
 * Decides requests one after the other: `run` does the work of each whose key is new. The first of
 * several with one key runs, and the others find it in progress. A refusal that frees its key
 * stores nothing; every other one is stored, and replayed like a success.
 * @returns one outcome per request, and the rows to store in the transaction of the work.
 */
export function decideKeyed<Request extends Keyed, Result extends Done>(
  known: KnownKeys,
  requests: readonly Request[],
  run: (request: Request, index: number) => Result | Refusal,
): { readonly decided: readonly Decided<Result>[]; readonly stored: readonly StoredKey[] } {
  const running = new Map<string, IdempotentRequest>();
  const stored: StoredKey[] = [];
  const keep = (request: Request, answer: Answer, done: Result | null): Decided<Result> => {
    const { idempotency, now } = request;
    if (idempotency === null) return { answer, done };
    stored.push({
      request: idempotency,
      resource: done?.resource ?? null,
      answer: done?.goesOn === true ? null : answer,
      created: now,
      expiresAt: keyExpiry(now),
    });
    return { answer, done };
  };
  const decided = requests.map((request, index): Decided<Result> => {
    const { idempotency } = request;
    const met = replayOf(known, idempotency) ?? meet(running, idempotency);
    if (met !== null) return { answer: met, done: null };
    const result = run(request, index);
    if (!isRefusal(result)) return keep(request, result.answer, result);
    if (idempotency === null || freesKey(result.code)) return { answer: result, done: null };
    const { requestId } = request;
    const input = { requestId, docsUrl: idempotency.docsUrl };
    return keep(request, answerRefusal(result, input), null);
  });
  return { decided, stored };
}

/** Waits for another request with the same key, then reads its result. */
async function takeKnown(tx: Tx, { idempotency, now }: Keyed) {
  if (idempotency === null) return new Map();
  const locked = lockName(tx, keyOf(idempotency));
  const [, known] = await Promise.all([locked, takeKeys(tx, [idempotency], now)]);
  return known;
}

/**
 * Runs work that only writes to the database, as a batch of one: key, objects, events and stored
 * response commit in ONE transaction, so a crash leaves all or nothing. A refusal that frees the
 * key stores nothing.
 */
export async function runOnce<Result extends Done>(
  db: Database,
  request: Keyed,
  work: (tx: Tx) => Promise<Result | Refusal>,
): Promise<Decided<Result>> {
  return db.transaction<Decided<Result>>(async (tx) => {
    const known = await takeKnown(tx, request);
    const replay = replayOf(known, request.idempotency);
    if (replay !== null) return { answer: replay, done: null };
    const result = await work(tx);
    const { decided, stored } = decideKeyed(known, [request], () => result);
    const outcome = only(decided, 'outcome');
    if (isRefusal(outcome.answer)) return new Abandon(outcome);
    tx.finish(insertKeys(tx, stored));
    return outcome;
  });
}

/** Returns the stored response of a key that was used before. */
export async function findReplay(
  sql: Sql,
  idempotency: IdempotentRequest | null,
  now: Date,
): Promise<Answer | Refusal | null> {
  if (idempotency === null) return null;
  return replayOf(await selectKeys(sql, [idempotency], now), idempotency);
}
