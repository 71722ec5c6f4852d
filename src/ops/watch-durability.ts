import { type Loop, startLoop } from '#core/background-loop.ts';
import type { Clock } from '#core/clock.ts';
import type { Database } from '#db/database.ts';
import {
  type DeclaredDurability,
  type Durability,
  fallsShort,
  judgeReplication,
  type ReplicationRow,
  selectReplication,
} from '#db/durability.ts';
import { describeError, type Log } from '#observability/log.ts';
import { insertAlarms } from '#settlement/alarms.ts';

/** Poll interval: a failover takes seconds, and standbys reconnect on their own. */
const LOOK_EVERY_MS = 5_000;

export interface DurabilityWatch {
  /** Returns the last observation; `null` before the first poll. */
  seen(): { readonly row: ReplicationRow; readonly found: Durability } | null;
  /** True if durability is lower than the operator declared. */
  isShort(): boolean;
  stop(): Promise<void>;
}

/**
 * Polls the database's standbys while the service runs. If commits become less durable than
 * declared, logs an error and raises an alarm, but stops nothing: payments continue, and a lost
 * standby returns or is replaced.
 */
export function watchDurability(deps: {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly declared: DeclaredDurability | null;
}): DurabilityWatch {
  const { db, clock, log, declared } = deps;
  let seen: ReturnType<DurabilityWatch['seen']> = null;
  const look = async () => {
    const row = await selectReplication(db);
    const durability = judgeReplication(row);
    const before = seen;
    seen = { row, found: durability };
    const fields = { found: durability, declared, standbys: row.standbys, names: row.names };
    if (before === null && !fallsShort(durability, declared)) return;
    if (before?.found === durability) return;
    if (!fallsShort(durability, declared)) {
      return log.warn('the durability of commits has changed', fields);
    }
    log.error('commits are less durable than declared', fields);
    const alarm = { kind: 'durability', subject: durability, details: fields };
    await db.transaction((tx) => insertAlarms(tx, true, [alarm], clock.now()));
  };
  const loop: Loop = startLoop({
    name: 'standby check',
    pollMs: LOOK_EVERY_MS,
    run: async () => {
      await look();
      return false;
    },
    onError: (name, error) => log.warn(`the ${name} failed`, { error: describeError(error) }),
  });
  return {
    seen: () => seen,
    isShort: () => seen !== null && fallsShort(seen.found, declared),
    stop: loop.stop,
  };
}
