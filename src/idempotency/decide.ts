import { type Answer, answerRefusal, isRefusal, type Refusal } from '#core/answer.ts';
import { only, present } from '#core/assert.ts';
import { Abandon, type Database, type Sql, type Tx } from '#db/database.ts';
import {
  insertKeys,
  type KeyRow,
  lockKey,
  type StoredKey,
  selectKeys,
  takeKeys,
} from '#idempotency/key-queries.ts';
import {
  freesKey,
  type IdempotentRequest,
  keyExpiry,
  keyOf,
  keyReused,
  meetUnderWay,
  requestInProgress,
} from '#idempotency/request.ts';

/** What an Idempotency-Key means: only here is it said what is replayed, freed and stored. */

/** A request, as far as its key matters. */
export interface Keyed {
  /** null: the client sent no key. */
  readonly idempotency: IdempotentRequest | null;
  readonly requestId: string;
  readonly now: Date;
}

/** What the work of a request ended with. */
export interface Done {
  readonly answer: Answer;
  /** The object that the answer is about. */
  readonly resource: string | null;
  /** The object's work goes on and will store the answer; left out: this is it. */
  readonly goesOn?: boolean;
}

export interface Decided<Result> {
  readonly answer: Answer | Refusal;
  /** null: nothing was done, because it is a replay or a refusal. */
  readonly done: Result | null;
}

/** By `keyOf`. */
export type KnownKeys = ReadonlyMap<string, KeyRow>;

export const REPLAYED = { 'Idempotent-Replayed': 'true' } as const;

/** The answer to a request whose key is known; null: it is new, or has no key. */
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

/** The first request with a key runs; a second one in the same batch finds it under way. */
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
 * several with one key runs, and the others meet it under way. A refusal that frees its key leaves
 * nothing; every other one is stored, and replayed like a success.
 * @returns one outcome per request, and what is to be stored in the transaction that does the work.
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
    const asked = { requestId, docsUrl: idempotency.docsUrl };
    return keep(request, answerRefusal(result, asked), null);
  });
  return { decided, stored };
}

/** Waits for another request with the same key, and then knows what became of it. */
async function takeKnown(tx: Tx, { idempotency, now }: Keyed) {
  if (idempotency === null) return new Map();
  const [, known] = await Promise.all([lockKey(tx, idempotency), takeKeys(tx, [idempotency], now)]);
  return known;
}

/**
 * Runs work that only writes the database, for a batch of one: key, objects, events and stored
 * response commit in ONE transaction, so a crash leaves all or nothing. A refusal that frees the
 * key leaves nothing behind.
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

/** The stored answer of a key that was used before. */
export async function findReplay(
  sql: Sql,
  idempotency: IdempotentRequest | null,
  now: Date,
): Promise<Answer | Refusal | null> {
  if (idempotency === null) return null;
  return replayOf(await selectKeys(sql, [idempotency], now), idempotency);
}
