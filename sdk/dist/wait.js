import { TaplineError } from './error.js';
import { WaitTimeoutError } from './errors.js';
import { sleep } from './request.js';
import { followEvents, newestEvent, START } from './stream.js';
const TIMEOUT_MS = 300_000;
const SAFETY_MS = 5_000;
const POLL_MS = 1_000;
const SHARE_MS = 250;
function pauseOf(watching) {
    const share = SHARE_MS * watching.bells.size;
    return Math.max(watching.works() ? SAFETY_MS : POLL_MS, share) * (0.75 + Math.random() / 4);
}
export async function waitFor(to, waited, { timeout = TIMEOUT_MS, until = waited.until, signal }) {
    const deadline = performance.now() + timeout;
    let rung = new AbortController();
    const ring = () => rung.abort();
    const bell = { id: waited.id, ring };
    signal?.addEventListener('abort', ring);
    const watching = join(to, bell);
    await watching.begun;
    try {
        for (;;) {
            signal?.throwIfAborted();
            rung = new AbortController();
            const object = await waited.read().catch(unlessPassing);
            if (object !== null && until(object))
                return object;
            const left = deadline - performance.now();
            if (left <= 0) {
                throw new WaitTimeoutError(`${waited.id} has not come to an end in ${timeout} ms. This is no failure: it may yet.`);
            }
            await sleep(Math.min(pauseOf(watching), left), rung.signal);
        }
    }
    finally {
        signal?.removeEventListener('abort', ring);
        leave(to, watching, bell);
    }
}
function unlessPassing(error) {
    const status = error instanceof TaplineError ? error.status : 0;
    if (status === null || status >= 500 || status === 429)
        return null;
    throw error;
}
const TYPES = 'payment_intent.*,refund.*';
function join(to, bell) {
    to.watching ??= startWatching(to);
    to.watching.bells.add(bell);
    return to.watching;
}
function leave(to, watching, bell) {
    watching.bells.delete(bell);
    if (watching.bells.size > 0)
        return;
    watching.stop();
    if (to.watching === watching)
        to.watching = null;
}
function startWatching(to) {
    const control = new AbortController();
    const { signal } = control;
    const bells = new Set();
    let works = true;
    const place = newestEvent(to);
    const follow = async () => {
        const options = { types: TYPES, signal, after: (await place) ?? START };
        for await (const event of followEvents(to, options)) {
            const { id } = event.data.object;
            for (const bell of bells)
                if (bell.id === id)
                    bell.ring();
        }
    };
    follow().catch(() => {
        works = false;
        for (const bell of bells)
            bell.ring();
    });
    const stop = () => control.abort();
    return { bells, works: () => works, begun: place.catch(() => null), stop };
}
