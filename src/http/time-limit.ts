/**
 * The limit of behavior.md 2.8: every route responds within 30 s, otherwise with 503
 * request_timeout.
 */
export const DEFAULT_TIME_LIMIT_MS = 30_000;

/**
 * The limit for authenticating a caller, which reads its key. A longer time means that the database
 * hangs; nothing was done yet.
 */
export const CHECK_TIME_LIMIT_MS = 5_000;

export interface TimeLimit<T> {
  readonly ms: number;
  /** The response after the time limit. The work continues. */
  readonly late: () => T;
  /** Called with an error that occurs after the response was sent. */
  readonly onLateFault: (error: unknown) => void;
}

/**
 * Returns the result of the work, or `late()` if its time limit is reached first. (Written out,
 * because every request passes here twice: Promise.race with a promise for the timer costs twice as
 * much.)
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
