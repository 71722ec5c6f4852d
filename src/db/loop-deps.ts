import type { Clock } from '#core/clock.ts';
import type { Log } from '#core/log.ts';
import type { Database } from '#db/database.ts';
import type { Wakeups } from '#db/wakeups.ts';

/** The dependencies of every worker loop. */
export interface LoopDeps {
  readonly db: Database;
  readonly wakeups: Wakeups;
  readonly clock: Clock;
  readonly log: Log;
}
