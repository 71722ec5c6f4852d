import { type Loop, startLoop } from '#core/background-loop.ts';
import { AlignedClock, StepDetector } from '#core/clock.ts';
import type { Undo } from '#core/undo.ts';
import type { Database } from '#db/database.ts';
import type { Log } from '#observability/log.ts';

/** Starts the process's clock, which follows the database's clock. */
export async function startClock(db: Database, log: Log, stops: Undo): Promise<AlignedClock> {
  const clock = new AlignedClock();
  await alignClock(db, clock);
  stops.push(startAligning(db, clock).stop, watchSteps(log));
  return clock;
}

/** Interval at which the clock is compared with the database's clock, in milliseconds. */
const ALIGN_EVERY_MS = 10_000;

function startAligning(db: Database, clock: AlignedClock): Loop {
  return startLoop({
    name: 'clock alignment',
    pollMs: ALIGN_EVERY_MS,
    run: async () => {
      await alignClock(db, clock);
      return false;
    },
    // While the database is unreachable, the clock keeps its last known offset.
    onError: () => {},
  });
}

async function alignClock(db: Database, clock: AlignedClock): Promise<void> {
  const before = Date.now();
  const rows = await db.query<{ now: Date }>('select clock_timestamp() as now');
  const after = Date.now();
  const theirs = rows[0]?.now.getTime();
  if (theirs !== undefined) clock.align({ before, after, theirs });
}

/** Poll interval for clock steps. Short, because a step affects the service immediately. */
const STEPS_POLL_MS = 1_000;

/** Logs each step of this machine's clock once. @returns a function that stops watching. */
function watchSteps(log: Log): () => Promise<void> {
  const steps = new StepDetector();
  const check = () => {
    const stepMs = steps.check(Date.now(), performance.now());
    if (stepMs === null) return;
    log.warn('the clock of this machine has stepped', { seconds: Math.round(stepMs / 1000) });
  };
  check();
  const timer = setInterval(check, STEPS_POLL_MS).unref();
  return async () => clearInterval(timer);
}
