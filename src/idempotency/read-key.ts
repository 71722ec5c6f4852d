import { createBatcher } from '#db/batching.ts';
import type { Sql } from '#db/database.ts';
import { type KeyRow, selectKeys } from '#idempotency/key-queries.ts';
import { type IdempotentRequest, keyOf } from '#idempotency/request.ts';

/** The row of a request's key, if it exists and has not expired. */
export type ReadKey = (request: IdempotentRequest, now: Date) => Promise<KeyRow | undefined>;

const MAX_IN_FLIGHT = 2;
/** Enough for all payments of a block, which are answered at once. */
const MAX_KEYS = 128;

/** Reads keys that are requested at the same time with one statement. */
export function createKeyReader(db: Sql): ReadKey {
  const batcher = createBatcher<{ request: IdempotentRequest; now: Date }, KeyRow | undefined>({
    run: async (asked) => {
      const now = new Date(Math.max(...asked.map((one) => one.now.getTime())));
      const requests = asked.map(({ request }) => request);
      const rows = await selectKeys(db, requests, now);
      return requests.map((request) => rows.get(keyOf(request)));
    },
    maxInFlight: MAX_IN_FLIGHT,
    maxItems: MAX_KEYS,
  });
  return (request, now) => batcher.add({ request, now });
}
