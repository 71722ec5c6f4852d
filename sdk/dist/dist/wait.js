import { TaplineError } from './error.js';
import { WaitTimeoutError } from './errors.js';
import { sleep } from './request.js';
import { followEvents, newestEvent } from './stream.js';
const TIMEOUT_MS = 300_000;
const SAFETY_MS = 5_000;
const POLL_MS = 1_000;
export async function waitFor(to, waited, { timeout = TIMEOUT_MS, until = waited.until, signal }) {
    const deadline = performance.now() + timeout;
    const control = new AbortController();
    let bell = new AbortController();
    const ring = () => bell.abort();
    signal?.addEventListener('abort', ring);
    const watching = watch(to, waited, { signal: control.signal, ring });
    await watching.begun;
    try {
        for (;;) {
            signal?.throwIfAborted();
            bell = new AbortController();
            const object = await waited.read().catch(unlessPassing);
            if (object !== null && until(object))
                return object;
            const left = deadline - performance.now();
            if (left <= 0) {
                throw new WaitTimeoutError(`${waited.id} has not come to an end in ${timeout} ms. This is no failure: it may yet.`);
            }
            const pause = watching.works() ? SAFETY_MS : POLL_MS;
            await sleep(Math.min(pause, left), bell.signal);
        }
    }
    finally {
        signal?.removeEventListener('abort', ring);
        control.abort();
    }
}
function unlessPassing(error) {
    const status = error instanceof TaplineError ? error.status : 0;
    if (status === null || status >= 500 || status === 429)
        return null;
    throw error;
}
function watch(to, { id, types }, { signal, ring }) {
    let works = true;
    const place = newestEvent(to);
    const follow = async () => {
        const after = (await place) ?? undefined;
        for await (const event of followEvents(to, { types, signal, ...(after ? { after } : {}) })) {
            if (event.data.object.id === id)
                ring();
        }
    };
    follow().catch(() => {
        works = false;
        ring();
    });
    return { works: () => works, begun: place.catch(() => null) };
}
