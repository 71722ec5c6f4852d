import type { Clock } from '#core/clock.ts';
import type { Database } from '#db/database.ts';
import type { Wakeups } from '#db/wakeups.ts';
import type { Log } from '#observability/log.ts';

/** The context that every process has. Loops and use cases that need no more take this type. */
export interface ProcessContext {
  readonly db: Database;
  readonly wakeups: Wakeups;
  readonly clock: Clock;
  readonly log: Log;
}
