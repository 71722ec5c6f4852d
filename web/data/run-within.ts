/** A time-out in milliseconds and an optional abort signal. */
export interface Limit {
  readonly ms: number;
  readonly until?: AbortSignal | undefined;
}

/**
 * Uses a controller with a timer instead of `AbortSignal.any`: WebKit, and Node before 22, lose a
 * combined signal in a garbage collection, so that it never aborts. That once made `Charge` wait 9
 * seconds for the previous long poll.
 */
export async function within<T>(
  { ms, until }: Limit,
  task: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const control = new AbortController();
  const stop = () => control.abort(until?.reason);
  const expire = () => control.abort(new DOMException(`Not done in ${ms} ms`, 'TimeoutError'));
  const timer = setTimeout(expire, ms);
  if (until?.aborted === true) stop();
  until?.addEventListener('abort', stop);
  try {
    return await task(control.signal);
  } finally {
    clearTimeout(timer);
    until?.removeEventListener('abort', stop);
  }
}
