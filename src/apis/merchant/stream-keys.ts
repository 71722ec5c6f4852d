import type { Scope } from '#accounts/api-key-scopes.ts';
import { decideKey } from '#accounts/authenticate-api-key.ts';
import type { MerchantCaller } from '#accounts/merchant-caller.ts';
import { selectKeyMerchants } from '#accounts/merchant-queries.ts';
import { isRefusal } from '#core/answer.ts';
import type { Clock } from '#core/clock.ts';
import { describeError, type Log } from '#core/log.ts';
import type { Database } from '#db/database.ts';

/**
 * Time between checks. A revoked key's streams must end within one second, in which there are two
 * checks.
 */
const LOOK_EVERY_MS = 400;

interface Watched {
  readonly caller: MerchantCaller;
  readonly scope: Scope;
  readonly end: () => void;
}

export interface StreamKeys {
  /**
   * Calls `end` when the caller's key is no longer accepted. @returns a function that stops
   * watching.
   */
  watch(watched: Watched): () => void;
}

/**
 * Creates a watcher that checks the keys of all open streams of this process with one statement.
 */
export function createStreamKeys(ctx: {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
}): StreamKeys {
  const { db, clock, log } = ctx;
  const all = new Set<Watched>();
  let timer: NodeJS.Timeout | null = null;
  let isLooking = false;
  const look = async () => {
    const watched = [...all];
    const hashes = new Map(
      watched.flatMap(({ caller: { keyId, merchant } }) =>
        merchant.keyHash === null ? [] : [[keyId, merchant.keyHash]],
      ),
    );
    const rows = await selectKeyMerchants(db, [...hashes.values()]);
    const merchant = new Map(rows.map((row) => [row.id, row]));
    for (const { caller, scope, end } of watched) {
      const { keyId, address } = caller;
      const now = decideKey(merchant.get(keyId), { now: clock.now(), address });
      if (isRefusal(now) || !now.scopes.includes(scope)) end();
    }
  };
  const turn = async () => {
    if (isLooking) return;
    isLooking = true;
    try {
      await look();
    } catch (error) {
      log.warn('the keys of event streams could not be read', { error: describeError(error) });
    }
    isLooking = false;
  };
  return {
    watch: (watched) => {
      all.add(watched);
      timer ??= setInterval(turn, LOOK_EVERY_MS).unref();
      return () => {
        all.delete(watched);
        if (all.size > 0 || timer === null) return;
        clearInterval(timer);
        timer = null;
      };
    },
  };
}
