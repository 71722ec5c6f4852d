import { Call } from './call.js';
import { TaplineError } from './error.js';
import { ConnectionError, errorOf, OutcomeUnknownError, UsageError } from './errors.js';
import { API_VERSION, USER_AGENT } from './version.js';
const TIMEOUT_MS = 70_000;
const RETRIES = 3;
const FIRST_DELAY_MS = 150;
const LONGEST_DELAY_MS = 8_000;
const RUNNING_DELAY_MS = 1_000;
const LONGEST_RETRY_AFTER_S = 60;
export function ask(to, asked, options = {}) {
    return new Call(send(to, asked, options));
}
async function send(to, what, options) {
    const asked = typeof what === 'function' ? what() : what;
    const request = prepare(to, asked, options);
    const { signal } = options;
    signal?.throwIfAborted();
    let retries = options.maxRetries ?? to.options.maxRetries ?? RETRIES;
    let doubtful = false;
    for (let attempt = 0;; attempt++) {
        const result = await attemptOnce(request);
        if ('data' in result)
            return result;
        doubtful ||= result.doubtful;
        const waits = isRunning(result) && performance.now() < request.patientUntil;
        const delay = waits || retries-- > 0 ? delayBefore(attempt, result, asked) : null;
        if (delay !== null)
            await sleep(delay, signal);
        if (delay !== null && !signal?.aborted)
            continue;
        if (delay !== null && !doubtful)
            throw signal?.reason;
        throw doubtful && !isRefusal(result) ? unknownOutcome(request, result) : result.error;
    }
}
function prepare(to, asked, options) {
    const { method, path, body } = asked;
    checkNumbers(body);
    const key = method === 'POST' ? (options.idempotencyKey ?? crypto.randomUUID()) : null;
    const url = `${to.baseUrl}/v1${path}${queryOf(asked.query)}`;
    const headers = headersOf(to);
    if (body !== undefined)
        headers['Content-Type'] = 'application/json';
    if (key !== null)
        headers['Idempotency-Key'] = key;
    if (options.version !== undefined)
        headers['Service-Version'] = options.version;
    const init = { method, headers, redirect: 'manual' };
    const text = body === undefined ? {} : { body: JSON.stringify(body) };
    const timeoutMs = options.timeout ?? to.options.timeout ?? TIMEOUT_MS;
    const patientUntil = performance.now() + timeoutMs;
    return { to, asked, options, url, init: { ...init, ...text }, key, timeoutMs, patientUntil };
}
export function headersOf({ apiKey }) {
    return {
        Authorization: `Bearer ${apiKey}`,
        'User-Agent': USER_AGENT,
        'Service-Version': API_VERSION,
    };
}
function checkNumbers(body) {
    for (const [name, value] of Object.entries(body ?? {})) {
        if (typeof value === 'number' && !Number.isSafeInteger(value)) {
            throw new UsageError(`${name} is ${value}, and has to be an integer. Amounts are in USDC atoms: 2500000 is ` +
                `2.50 USDC, and usdc('2.50') says so.`, { param: name });
        }
    }
}
export function queryOf(query) {
    const given = Object.entries(query ?? {}).filter(([, value]) => value != null);
    const text = new URLSearchParams(given.map(([name, value]) => [name, `${value}`]));
    return given.length === 0 ? '' : `?${text}`;
}
async function attemptOnce(request) {
    const { to, asked, options, url, init, key, timeoutMs } = request;
    const { signal } = options;
    const control = new AbortController();
    const giveUp = () => control.abort();
    const timer = setTimeout(giveUp, timeoutMs);
    signal?.addEventListener('abort', giveUp);
    try {
        const response = await (to.options.fetch ?? fetch)(url, { ...init, signal: control.signal });
        const body = parse(await response.text());
        const requestId = response.headers.get('Request-Id');
        if (!response.ok)
            return failureOf(asked, response, body);
        if (body === undefined)
            throw new Error('the answer was cut off');
        return { data: body, response, requestId, idempotencyKey: key };
    }
    catch (cause) {
        if (signal?.aborted && !asked.keyed)
            throw signal.reason;
        const why = control.signal.aborted
            ? 'No answer came in time.'
            : `No answer: ${reasonOf(cause)}.`;
        return { error: new ConnectionError(why, { cause }), doubtful: asked.keyed, retryAfterS: null };
    }
    finally {
        clearTimeout(timer);
        signal?.removeEventListener('abort', giveUp);
    }
}
function reasonOf(error) {
    const { message, cause } = error;
    return cause?.message || message || String(error);
}
function parse(text) {
    try {
        return JSON.parse(text);
    }
    catch {
        return undefined;
    }
}
function failureOf(asked, response, body) {
    const error = errorOf(response, body);
    const { status, code } = error;
    const after = Number(response.headers.get('Retry-After') ?? Number.NaN);
    const fault = (status ?? 0) >= 500 && code !== 'service_unavailable';
    const doubtful = asked.keyed && (fault || code === RUNNING);
    return { error, doubtful, retryAfterS: Number.isNaN(after) ? null : after };
}
const RUNNING = 'idempotency_request_in_progress';
function isRunning({ error }) {
    return error.code === RUNNING;
}
function isRefusal({ error: { type, status }, doubtful }) {
    return type !== null && !doubtful && [400, 404, 409].includes(status ?? 0);
}
function delayBefore(attempt, failed, asked) {
    const { status, code } = failed.error;
    const lost = failed.error instanceof ConnectionError || status === 500 || status === 503;
    const refused = status === 429 || code === 'service_unavailable' || code === RUNNING;
    const repeatable = asked.keyed || asked.method === 'GET' || asked.method === 'PATCH';
    if (!refused && !(lost && repeatable))
        return null;
    if (failed.retryAfterS !== null) {
        return failed.retryAfterS > LONGEST_RETRY_AFTER_S ? null : failed.retryAfterS * 1_000;
    }
    const most = code === RUNNING ? RUNNING_DELAY_MS : LONGEST_DELAY_MS;
    const longest = Math.min(FIRST_DELAY_MS * 2 ** attempt, most);
    return longest * (0.5 + Math.random() / 2);
}
export function sleep(ms, signal) {
    return new Promise((resolve) => {
        if (signal?.aborted)
            return resolve();
        const done = () => {
            clearTimeout(timer);
            signal?.removeEventListener('abort', done);
            resolve();
        };
        const timer = setTimeout(done, ms);
        signal?.addEventListener('abort', done);
    });
}
function unknownOutcome(request, { error }) {
    const { status, type, param, requestId, docUrl } = error;
    const details = { status, type, param, requestId, docUrl, cause: error };
    const again = () => unknownOutcome(request, { error, doubtful: true, retryAfterS: null });
    return new OutcomeUnknownError({
        idempotencyKey: request.key ?? '',
        why: error.message,
        resolve: () => resolveOutcome(request, again).catch((cause) => {
            throw isSilence(cause) ? again() : cause;
        }),
        details,
    });
}
function isSilence(error) {
    if (!(error instanceof TaplineError) || error instanceof OutcomeUnknownError)
        return false;
    const { status } = error;
    return error instanceof ConnectionError || status === 429 || (status ?? 0) >= 500;
}
const RESOURCES = {
    pi: '/payment_intents',
    re: '/refunds',
    wdl: '/webhook_deliveries',
};
async function resolveOutcome(request, unknown) {
    const { to, asked, key } = request;
    const get = (path, query) => ask(to, { method: 'GET', path, query, keyed: false });
    const known = await get(`/idempotency_keys/${encodeURIComponent(key ?? '')}`).catch((error) => {
        if (error instanceof TaplineError && error.code === 'resource_missing')
            return null;
        throw error;
    });
    if (known?.status === 'completed') {
        const where = RESOURCES[known.resource?.split('_')[0] ?? ''];
        const refused = (known.response_status ?? 0) >= 400;
        if (where !== undefined && !refused)
            return get(`${where}/${known.resource}`);
        return ask(to, asked, { ...request.options, idempotencyKey: key ?? '' });
    }
    const found = known === null ? await findByOrder(request) : undefined;
    if (found === undefined)
        throw unknown();
    return found;
}
async function findByOrder({ to, asked }) {
    const { order_id } = (asked.body ?? {});
    if (order_id === undefined || asked.path !== '/payment_intents')
        return undefined;
    const query = { order_id, limit: 1 };
    const list = await ask(to, { ...asked, method: 'GET', query, body: undefined });
    return list.data[0];
}
