import { type Answer, isRefusal, type Refusal } from '#core/answer.ts';
import { only } from '#core/assert.ts';
import { Abandon, type Database, type Sql, type Tx } from '#db/database.ts';
import { type Decided, type Done, decideKeyed, type Keyed, replayOf } from '#idempotency/decide.ts';
import { insertKeys, lockKey, selectKeys, takeKeys } from '#idempotency/key-queries.ts';
import type { IdempotentRequest } from '#idempotency/request.ts';

/** Waits for another request with the same key, and then knows what became of it. */
async function meet(tx: Tx, { idempotency, now }: Keyed) {
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
    const known = await meet(tx, request);
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
