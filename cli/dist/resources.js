import { randomUUID } from 'node:crypto';
import { TaplineError } from 'tapline';
import { someTerminal } from './settings.js';
import { WrongUse } from './wrong-use.js';
const TEXT_FIELDS = new Set(['metadata', 'order_id', 'description', 'reason', 'label', 'url']);
export function fieldsOf(pairs) {
    const fields = {};
    for (const pair of pairs) {
        const [, path = '', text = ''] = /^([\w.]+)=([\s\S]*)$/.exec(pair) ?? [];
        if (path === '')
            throw new WrongUse(`${pair} is no name=value.`);
        const names = path.split('.');
        const isObject = /^(?:null|[[{].*)$/s.test(text);
        const isText = TEXT_FIELDS.has(names[0] ?? '') && !isObject;
        const isJson = isObject || /^(?:-?\d{1,15}|true|false)$/.test(text);
        const value = isJson && !isText ? JSON.parse(text) : text;
        const last = names.pop() ?? '';
        let place = fields;
        for (const name of names) {
            place[name] = { ...place[name] };
            place = place[name];
        }
        place[last] = value;
    }
    return fields;
}
const LISTS = {
    payment_intents: (tapline, query) => tapline.paymentIntents.list(query),
    payments: (tapline, query) => tapline.payments.list(query),
    refunds: (tapline, query) => tapline.refunds.list(query),
    terminals: (tapline, query) => tapline.terminals.list(query),
    events: (tapline, query) => tapline.events.list(query),
    webhook_endpoints: (tapline) => tapline.webhookEndpoints.list(),
    request_log: (tapline, query) => tapline.requestLog.list(query),
};
export async function list({ tapline, out }, resource, options) {
    const ask = LISTS[resource];
    if (ask === undefined)
        throw new WrongUse(`Lists are: ${Object.keys(LISTS).join(', ')}.`);
    const query = { limit: Number(options.limit), ...fieldsOf(options.filters) };
    const { data } = await ask(tapline, query).page;
    for (const one of data) {
        const { id, created = '', status = '' } = one;
        out.show(one, `${id}  ${created}  ${status}`.trimEnd());
    }
    return 0;
}
export async function post(settings, path, options) {
    const { idempotencyKey: key = randomUUID() } = options;
    settings.out.note(`Idempotency-Key: ${key}`);
    const body = fieldsOf(options.fields);
    const isSale = /^\/?(v1\/)?payment_intents\/?$/.test(path);
    if (isSale && body.terminal === undefined)
        body.terminal = await someTerminal(settings);
    const answer = await send(settings, { path, body, key });
    settings.out.show(answer, JSON.stringify(answer, null, 2));
    return 0;
}
export async function send({ baseUrl, apiKey }, { path, query = {}, body, key }) {
    const below = path.replace(/^\/?(v1\/)?/, '');
    if (!/^[\w/]+$/.test(below))
        throw new WrongUse(`${path} is no path: try payment_intents.`);
    const entries = Object.entries(query).map(([name, value]) => [
        name,
        `${value}`,
    ]);
    const asked = entries.length === 0 ? '' : `?${new URLSearchParams(entries)}`;
    const response = await fetch(`${baseUrl.replace(/\/+$/, '')}/v1/${below}${asked}`, {
        method: body === undefined ? 'GET' : 'POST',
        headers: {
            Authorization: `Bearer ${apiKey}`,
            ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
            ...(key === undefined ? {} : { 'Idempotency-Key': key }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        redirect: 'manual',
    });
    const answer = (await response.json());
    const requestId = response.headers.get('Request-Id');
    if (response.ok)
        return answer;
    const { code = null, message = `The answer was ${response.status}.` } = answer.error ?? {};
    throw new TaplineError(message, { status: response.status, code, requestId });
}
