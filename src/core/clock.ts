/** Provides the current time for decisions, in whole milliseconds. */
export interface Clock {
  now(): Date;
}

export const systemClock: Clock = { now: () => new Date() };

/** One reading of another clock, in milliseconds. */
export interface ClockReading {
  /** This machine's time before the other clock was read (`before`) and after (`after`). */
  readonly before: number;
  readonly after: number;
  /** The other clock's time, read between `before` and `after`. */
  readonly theirs: number;
}

/**
 * A clock that follows another (the database's), so that processes on machines with different
 * clocks make the same decisions. A reading yields only bounds of the other clock's offset. The
 * bounds are as far apart as the round trip took, which is long in a busy process. So the offset
 * changes only when a reading contradicts it, and by no more than needed. If each reading replaced
 * the offset with a new estimate, processes on one machine would disagree by half of their round
 * trips.
 */
export class AlignedClock implements Clock {
  /** The offset to add to this machine's time. */
  #offsetMs = 0;

  align({ before, after, theirs }: ClockReading): void {
    // All three times were rounded down, so each may really be up to a millisecond later.
    const [least, most] = [theirs - after - 1, theirs + 1 - before];
    this.#offsetMs = Math.min(Math.max(this.#offsetMs, least), most);
  }

  now(): Date {
    return new Date(Date.now() + this.#offsetMs);
  }
}

/** NTP slews a clock by at most half a millisecond per second, so a larger change is a step. */
const STEP_MS = 1_000;

/**
 * Detects that the machine's clock was set: the difference between it and the monotonic clock
 * changes.
 */
export class StepDetector {
  #aheadMs: number | null = null;

  /**
   * @returns by how many milliseconds the clock stepped since the last call; null if it did not.
   */
  check(wallMs: number, monotonicMs: number): number | null {
    const aheadMs = wallMs - monotonicMs;
    const stepMs = aheadMs - (this.#aheadMs ?? aheadMs);
    this.#aheadMs = aheadMs;
    return Math.abs(stepMs) < STEP_MS ? null : stepMs;
  }
}

export function addMs(at: Date, ms: number): Date {
  return new Date(at.getTime() + ms);
}

export function addSeconds(at: Date, seconds: number | bigint): Date {
  return addMs(at, Number(seconds) * 1000);
}
