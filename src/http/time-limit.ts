/** behavior.md 2.8: every route answers within 30 s, else 503 request_timeout. */
export const DEFAULT_TIME_LIMIT_MS = 30_000;

/**
 * What knowing the caller may take: a read of its key. Longer means that the database hangs, and
 * nothing was done yet.
 */
export const CHECK_TIME_LIMIT_MS = 5_000;

export interface TimeLimit<T> {
  readonly ms: number;
  /** The answer when the time is over. The work goes on. */
  readonly late: () => T;
  /** Is told of a fault that came after the answer had been given. */
  readonly onLateFault: (error: unknown) => void;
}

/**
 * The outcome of the work, or `late()` when its time is over first. (By hand, because every
 * request passes here twice: Promise.race with a promise for the timer costs twice as much.)
 */
export function withinTime<T>(work: Promise<T>, limit: TimeLimit<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      resolve(limit.late());
    }, limit.ms);
    work.then(
      (outcome) => {
        clearTimeout(timer);
        resolve(outcome);
      },
      (error) => {
        clearTimeout(timer);
        if (isLate) limit.onLateFault(error);
        else reject(error);
      },
    );
  });
}
