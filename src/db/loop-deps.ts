import type { Clock } from '#core/clock.ts';
import type { Log } from '#core/log.ts';
import type { Database } from '#db/database.ts';
import type { Wakeups } from '#db/wakeups.ts';

/** What every loop of a worker needs: database, wake-ups, clock, log. */
export interface LoopDeps {
  readonly db: Database;
  readonly wakeups: Wakeups;
  readonly clock: Clock;
  readonly log: Log;
}
