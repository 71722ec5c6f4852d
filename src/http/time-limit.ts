/**
 * The default limit (behavior.md 2.8): a route that takes longer than 30 s responds with 503
 * request_timeout.
 */
export const DEFAULT_TIME_LIMIT_MS = 30_000;

/**
 * Time limit for authenticating a caller, which reads its key. If it takes longer, the database
 * hangs, and nothing was done yet.
 */
export const CHECK_TIME_LIMIT_MS = 5_000;

export interface TimeLimit<T> {
  readonly ms: number;
  /** Returns the response to send after the time limit. The work continues. */
  readonly late: () => T;
  /** Called with an error that the work throws after the response was sent. */
  readonly onLateFault: (error: unknown) => void;
}

/**
 * Returns the result of the work, or `late()` if the work takes longer than its limit. (Not
 * Promise.race, which takes twice as long with a timer's promise, and every request passes here
 * twice.)
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
