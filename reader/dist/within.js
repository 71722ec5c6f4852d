/**
 * Runs a task with a signal that aborts at its limit. Not `AbortSignal.any`: Node before 22 forgets
 * a combined signal at a garbage collection, and a request that hangs would hang for good.
 */
export async function within({ ms, until }, task) {
    const control = new AbortController();
    const stop = () => control.abort(until.find(({ aborted }) => aborted)?.reason);
    const expire = () => control.abort(new DOMException(`Not done in ${ms} ms`, 'TimeoutError'));
    const timer = setTimeout(expire, ms);
    for (const signal of until)
        signal.addEventListener('abort', stop);
    if (until.some(({ aborted }) => aborted))
        stop();
    try {
        return await task(control.signal);
    }
    finally {
        clearTimeout(timer);
        for (const signal of until)
            signal.removeEventListener('abort', stop);
    }
}
