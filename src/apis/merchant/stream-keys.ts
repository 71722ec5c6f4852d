import type { Scope } from '#accounts/api-key-scopes.ts';
import { decideKey } from '#accounts/authenticate-api-key.ts';
import type { MerchantCaller } from '#accounts/merchant-caller.ts';
import { selectKeyMerchants } from '#accounts/merchant-queries.ts';
import { isRefusal } from '#core/answer.ts';
import type { Clock } from '#core/clock.ts';
import type { Database } from '#db/database.ts';
import { createRightsWatch, type RightsWatch } from '#http/watch-rights.ts';
import type { Log } from '#observability/log.ts';

interface Held {
  readonly caller: MerchantCaller;
  readonly scope: Scope;
}

/** Creates a watcher that notices within a second that a stream's key is no longer accepted. */
export function createStreamKeys(ctx: {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
}): RightsWatch<Held> {
  const { db, clock, log } = ctx;
  return createRightsWatch<Held>(log, async (all) => {
    const hashes = new Map(
      all.flatMap(({ caller: { keyId, merchant } }) =>
        merchant.keyHash === null ? [] : [[keyId, merchant.keyHash]],
      ),
    );
    const rows = await selectKeyMerchants(db, [...hashes.values()]);
    const merchant = new Map(rows.map((row) => [row.id, row]));
    return all.map(({ caller: { keyId, address }, scope }) => {
      const key = decideKey(merchant.get(keyId), { now: clock.now(), address });
      return !isRefusal(key) && key.scopes.includes(scope);
    });
  });
}
