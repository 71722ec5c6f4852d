import type { Clock } from '#core/clock.ts';
import type { Log } from '#core/log.ts';
import type { Database } from '#db/database.ts';
import type { Wakeups } from '#db/wakeups.ts';

/** What every loop of a worker works with: its rows, whom it wakes, the time, where it reports. */
export interface LoopDeps {
  readonly db: Database;
  readonly wakeups: Wakeups;
  readonly clock: Clock;
  readonly log: Log;
}
