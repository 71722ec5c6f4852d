/** Where decisions get their `now` from. Whole milliseconds. */
export interface Clock {
  now(): Date;
}

export const systemClock: Clock = { now: () => new Date() };

/**
 * A clock that follows another (the database's), so that two processes whose machines disagree
 * still take the same decisions. `offsetMs` is what has to be added to this machine's time.
 */
export class AlignedClock implements Clock {
  #offsetMs = 0;

  align(offsetMs: number): void {
    this.#offsetMs = Math.round(offsetMs);
  }

  now(): Date {
    return new Date(Date.now() + this.#offsetMs);
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
