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
    const receivers = options.forwardTo.map(receiverOf);
    const headers = extraHeaders(options.header);
    const ends = endOf(options);
    const after = options.after ?? (await tapline.events.list({ limit: 1 }).page).data[0]?.id;
    const deliver = async (event) => {
        const to = receivers.filter(({ takes }) => takes(event.type));
        const results = await Promise.all(to.map(({ url }) => forward(event, { url, secret, headers })));
        const words = results.map((result) => `  ->  ${wordsOf(result)}`).join('');
        const [first = null] = results;
        const result = results.find((one) => !isDelivered(one)) ?? first;
        const line = `${event.created}  ${event.type}  ${event.id}${words}`;
        out.show({ event, forward: result, ...(results.length > 1 ? { forwards: results } : {}) }, line);
        return result;
    };
    const { close, missing } = await acceptResends(settings, async (id) => {
        const result = await deliver(await tapline.events.retrieve(id));
        return result ?? { status: null, error: 'listening without --forward-to', duration_ms: 0 };
    });
    const urls = receivers.map(({ url }) => url);
    const to = urls.length === 0 ? 'Listening' : `Forwarding to ${urls.join(', ')}`;
    out.show({ ready: true, forward_to: urls[0] ?? null, secret, after: after ?? null }, `${to}. Secret: ${secret}`);
    if (missing !== null)
        out.note(`\`tapline resend\` does not reach this window: ${missing}.`);
    try {
        return await follow(settings, { options, after, deliver, ends });
    }
    finally {
        close();
    }
}
function receiverOf(given) {
    const [, types, to = given] = /^([\w.*,]+)=(.+)$/.exec(given) ?? [];
    const wanted = types?.split(',') ?? ['*'];
    const takes = (type) => wanted.some((one) => (one.endsWith('*') ? type.startsWith(one.slice(0, -1)) : one === type));
    return { url: checkReceiver(to), takes };
}
function extraHeaders(given) {
    const pairs = given.map((line) => {
        const [, name = '', value = ''] = /^([\w-]+):\s*([^\r\n]*)$/.exec(line) ?? [];
        if (name === '')
            throw new WrongUse(`--header takes 'Name: value', not ${line}.`);
        if (/^(service-|webhook-|content-|host$)/i.test(name)) {
            throw new WrongUse(`${name} is the network's own.`);
        }
        return [name, value];
    });
    return Object.fromEntries(pairs);
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
    let isOver = false;
    const expire = () => {
        isOver = true;
        control.abort();
    };
    setTimeout(expire, seconds * 1_000).unref();
    return { signal: control.signal, timedOut: () => isOver && until !== undefined };
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
