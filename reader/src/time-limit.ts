/** A time-out in milliseconds and optional abort signals. */
export interface Limit {
  readonly ms: number;
  readonly until: readonly AbortSignal[];
}

/**
 * Does not use `AbortSignal.any`: Node before 22 garbage-collects combined signals, so a request
 * that hangs would never end.
 */
export async function within<T>(
  { ms, until }: Limit,
  task: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const control = new AbortController();
  const stop = () => control.abort(until.find(({ aborted }) => aborted)?.reason);
  const expire = () => control.abort(new DOMException(`Not done in ${ms} ms`, 'TimeoutError'));
  const timer = setTimeout(expire, ms);
  for (const signal of until) signal.addEventListener('abort', stop);
  if (until.some(({ aborted }) => aborted)) stop();
  try {
    return await task(control.signal);
  } finally {
    clearTimeout(timer);
    for (const signal of until) signal.removeEventListener('abort', stop);
  }
}
