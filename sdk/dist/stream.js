import { TaplineError } from './error.js';
import { errorOf } from './errors.js';
import { ask, headersOf, queryOf, sleep } from './request.js';
export const START = 'start';
const SILENT_MS = 45_000;
const POLL_MS = 1_000;
const LONGEST_DELAY_MS = 10_000;
export async function* followEvents(to, { types, after, signal }) {
    let last = after === START ? null : (after ?? (await newestEvent(to)));
    let failures = 0;
    let polls = false;
    while (!signal?.aborted) {
        try {
            const events = polls ? eventsBehind(to, last) : streamed(to, { types, last, signal });
            for await (const event of events) {
                failures = 0;
                last = event.id;
                if (!polls || matches(types, event.type))
                    yield event;
            }
            if (polls)
                await sleep(POLL_MS, signal);
        }
        catch (error) {
            if (signal?.aborted)
                return;
            const { status = null, code = null } = error instanceof TaplineError ? error : {};
            const isOld = code === 'parameter_unknown' || (last === null && code === 'cursor_invalid');
            if (status === 404 || status === 429 || isOld)
                polls = true;
            else if (status !== null && status < 500)
                throw error;
            await sleep(Math.min(250 * 2 ** failures++, LONGEST_DELAY_MS), signal);
        }
    }
}
function eventPage(to, query) {
    return ask(to, { method: 'GET', path: '/events', query, keyed: false });
}
export async function newestEvent(to) {
    return (await eventPage(to, { limit: 1 })).data[0]?.id ?? null;
}
async function* eventsBehind(to, last) {
    const found = [];
    let cursor;
    do {
        const page = await eventPage(to, { limit: 100, cursor });
        const known = page.data.findIndex((event) => event.id === last);
        found.push(...(known < 0 ? page.data : page.data.slice(0, known)));
        cursor = known < 0 ? (page.next_cursor ?? undefined) : undefined;
    } while (cursor !== undefined);
    yield* found.reverse();
}
function matches(types, type) {
    if (types === undefined)
        return true;
    return types.split(',').some((one) => {
        const wanted = one.trim();
        return wanted.endsWith('*') ? type.startsWith(wanted.slice(0, -1)) : wanted === type;
    });
}
async function* streamed(to, { types, last, signal }) {
    const control = new AbortController();
    const end = () => control.abort();
    let alarm = setTimeout(end, SILENT_MS);
    signal?.addEventListener('abort', end);
    try {
        const after = last === null ? START : undefined;
        const url = `${to.baseUrl}/v1/events/stream${queryOf({ types, after })}`;
        const headers = {
            ...headersOf(to),
            Accept: 'text/event-stream',
            ...(last === null ? {} : { 'Last-Event-ID': last }),
        };
        const response = await (to.options.fetch ?? fetch)(url, { headers, signal: control.signal });
        if (!response.ok || response.body === null) {
            throw errorOf(response, await response.json().catch(() => null));
        }
        for await (const block of blocksOf(response.body)) {
            clearTimeout(alarm);
            alarm = setTimeout(end, SILENT_MS);
            const data = block.split('\n').find((line) => line.startsWith('data:'));
            if (data !== undefined)
                yield JSON.parse(data.slice('data:'.length));
        }
    }
    finally {
        clearTimeout(alarm);
        signal?.removeEventListener('abort', end);
        control.abort();
    }
}
async function* blocksOf(body) {
    const reader = body.pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    for (;;) {
        const { done, value } = (await reader.read());
        if (done)
            return;
        const blocks = (text + value).replaceAll('\r', '').split('\n\n');
        text = blocks.pop() ?? '';
        yield* blocks;
    }
}
