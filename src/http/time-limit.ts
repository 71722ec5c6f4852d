/** api-v1.md section 8: every route answers within 30 s, else 503 request_timeout. */
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
  /** Hears of a fault that came after the answer had been given. */
  readonly onLateFault: (error: unknown) => void;
}

/** The outcome of the work, or `late()` when its time is over first. */
export async function withinTime<T>(work: Promise<T>, limit: TimeLimit<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<T>((resolve) => {
    timer = setTimeout(() => {
      work.catch(limit.onLateFault);
      resolve(limit.late());
    }, limit.ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
