import { checkReceiver, forward, isDelivered, listenSecret, wordsOf, } from './forward.js';
import { acceptResends } from './listeners.js';
import { WrongUse } from './wrong-use.js';
export async function listen(settings, options) {
    const { out, tapline } = settings;
    const secret = listenSecret(settings.apiKey);
    if (options.printSecret === true) {
        out.show({ secret }, secret);
        return 0;
    }
    const url = options.forwardTo === undefined ? null : checkReceiver(options.forwardTo);
    const ends = endOf(options);
    const after = options.after ?? (await tapline.events.list({ limit: 1 }).page).data[0]?.id;
    const deliver = async (event) => {
        const result = url === null ? null : await forward(event, { url, secret });
        const words = result === null ? '' : `  ->  ${wordsOf(result)}`;
        out.show({ event, forward: result }, `${event.created}  ${event.type}  ${event.id}${words}`);
        return result;
    };
    const { close, missing } = await acceptResends(settings, async (id) => {
        const result = await deliver(await tapline.events.retrieve(id));
        return result ?? { status: null, error: 'listening without --forward-to', duration_ms: 0 };
    });
    const to = url === null ? 'Listening' : `Forwarding to ${url}`;
    out.show({ ready: true, forward_to: url, secret, after: after ?? null }, `${to}. Secret: ${secret}`);
    if (missing !== null)
        out.note(`\`tapline resend\` does not reach this window: ${missing}.`);
    try {
        return await follow(settings, { options, after, deliver, ends });
    }
    finally {
        close();
    }
}
function endOf({ timeout, until }) {
    const control = new AbortController();
    const stop = () => control.abort();
    process.once('SIGINT', stop).once('SIGTERM', stop);
    if (timeout === undefined)
        return { signal: control.signal, timedOut: () => false };
    const seconds = Number(timeout);
    if (!(seconds > 0))
        throw new WrongUse(`--timeout takes seconds, not ${timeout}.`);
    const timer = AbortSignal.timeout(seconds * 1_000);
    const signal = AbortSignal.any([control.signal, timer]);
    return { signal, timedOut: () => timer.aborted && until !== undefined };
}
async function follow(settings, { options, after, deliver, ends }) {
    const { events: types, until } = options;
    const { signal } = ends;
    const underWay = new Set();
    const stream = settings.tapline.events.stream({
        signal,
        ...(types === undefined ? {} : { types }),
        ...(after === undefined ? {} : { after }),
    });
    for await (const event of stream) {
        const delivered = deliver(event);
        if (event.type === until) {
            const result = await delivered;
            await Promise.all(underWay);
            return result === null || isDelivered(result) ? 0 : 1;
        }
        underWay.add(delivered);
        delivered.finally(() => underWay.delete(delivered));
        if (underWay.size >= 8)
            await Promise.race(underWay);
    }
    await Promise.all(underWay);
    if (ends.timedOut())
        settings.out.note(`No ${until} came in ${options.timeout} s.`);
    return ends.timedOut() ? 1 : 0;
}
