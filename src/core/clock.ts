/** Where decisions get their `now` from. Whole milliseconds. */
export interface Clock {
  now(): Date;
}

export const systemClock: Clock = { now: () => new Date() };

/** What was learned of another clock by asking it once. Milliseconds. */
export interface ClockReading {
  /** This machine's time before the question, and after the answer. */
  readonly before: number;
  readonly after: number;
  /** What the other clock said in between. */
  readonly theirs: number;
}

/**
 * A clock that follows another (the database's), so that two processes whose machines disagree
 * still take the same decisions.
 *
 * A reading says only that the other clock is ahead by something between two bounds, which are as
 * far apart as its round trip took: much, in a busy process. So the clock moves only when a reading
 * proves it wrong, and no further than that proof goes. A new guess at each reading would make
 * processes on one machine disagree by half of their round trips.
 */
export class AlignedClock implements Clock {
  /** What has to be added to this machine's time. */
  #offsetMs = 0;

  align({ before, after, theirs }: ClockReading): void {
    // All three were rounded down: each may be up to a millisecond later.
    const [least, most] = [theirs - after - 1, theirs + 1 - before];
    this.#offsetMs = Math.min(Math.max(this.#offsetMs, least), most);
  }

  now(): Date {
    return new Date(Date.now() + this.#offsetMs);
  }
}

/** NTP slews a clock by half a millisecond a second at most: what moves it further is a step. */
const STEP_MS = 1_000;

/**
 * Notices when the machine's clock is set: it then differs from the monotonic clock by more, or
 * less, than before.
 */
export class StepDetector {
  #aheadMs: number | null = null;

  /** @returns the milliseconds of a step since the last call; null if there was none. */
  check(wallMs: number, monotonicMs: number): number | null {
    const aheadMs = wallMs - monotonicMs;
    const stepMs = aheadMs - (this.#aheadMs ?? aheadMs);
    this.#aheadMs = aheadMs;
    return Math.abs(stepMs) < STEP_MS ? null : stepMs;
  }
}

/** A clock that only moves when a test says so. */
export class FakeClock implements Clock {
  #now: number;

  constructor(start: Date = new Date('2026-10-01T12:00:00.000Z')) {
    this.#now = start.getTime();
  }

  now(): Date {
    return new Date(this.#now);
  }

  advance(ms: number): void {
    this.#now += ms;
  }
}

export function addMs(at: Date, ms: number): Date {
  return new Date(at.getTime() + ms);
}

export function addSeconds(at: Date, seconds: number): Date {
  return addMs(at, seconds * 1000);
}
