import { setTimeout as sleep } from 'node:timers/promises';
import { TaplineError } from 'tapline';
import { WrongUse } from './wrong-use.js';
const LOOK_EVERY_MS = 1_000;
export async function logs(settings, options) {
    const fits = filterOf(options);
    const read = await reader(settings, options);
    const { out } = settings;
    const seen = new Set();
    let first = true;
    const control = new AbortController();
    process.once('SIGINT', () => control.abort()).once('SIGTERM', () => control.abort());
    do {
        const requests = (await read(100)).filter(fits);
        const fresh = requests.filter(({ id }) => !seen.has(id));
        const shown = first ? fresh.slice(0, Number(options.limit)) : fresh;
        for (const one of requests)
            seen.add(one.id);
        for (const request of shown.reverse()) {
            const { created, status, method, path, code, duration_ms } = request;
            const words = `${created}  ${status}  ${method} ${path}  ${code ?? ''}  ${duration_ms} ms`;
            out.show(request, words);
        }
        first = false;
        const paused = { signal: control.signal };
        if (options.follow)
            await sleep(LOOK_EVERY_MS, undefined, paused).catch(() => { });
    } while (options.follow && !control.signal.aborted);
    return 0;
}
function filterOf({ status, method }) {
    if (status !== undefined && !/^([1-5]xx|[1-5]\d\d)$/i.test(status)) {
        throw new WrongUse(`--status takes 404 or 4xx, not ${status}.`);
    }
    const wanted = new RegExp(`^${(status ?? '...').replaceAll(/x/gi, '\\d')}$`);
    return (request) => wanted.test(String(request.status)) &&
        (method === undefined || request.method === method.toUpperCase());
}
function personOf({ sandbox, isFromSandbox }, options) {
    if (sandbox !== null && isFromSandbox) {
        if (options.email === undefined)
            return sandbox.dashboard;
        throw new WrongUse('Say where, too: --base-url. Else the sandbox shows its own person.');
    }
    const { TAPLINE_EMAIL, TAPLINE_PASSWORD } = process.env;
    return {
        email: options.email ?? TAPLINE_EMAIL ?? sandbox?.dashboard.email,
        password: TAPLINE_PASSWORD ?? sandbox?.dashboard.password,
    };
}
async function reader(settings, options) {
    const { sandbox, tapline } = settings;
    if (options.email !== undefined || options.account !== undefined)
        return signIn(settings, options);
    const read = async (limit) => (await tapline.requestLog.list({ limit }).page).data;
    try {
        await read(1);
        return read;
    }
    catch (error) {
        const { code } = error;
        const isPerson = sandbox !== null || process.env.TAPLINE_EMAIL !== undefined;
        if (isPerson && (code === 'scope_missing' || code === 'route_missing')) {
            return signIn(settings, options);
        }
        if (code !== 'scope_missing')
            throw error;
        throw new WrongUse('This key lacks the scope logs:read. Give it, or name a person: --email.');
    }
}
async function signIn(settings, options) {
    const { sandbox, baseUrl, apiKey } = settings;
    const { email, password } = personOf(settings, options);
    if (email === undefined || password === undefined) {
        throw new WrongUse('The request log is read as a person of the dashboard: set TAPLINE_EMAIL and ' +
            'TAPLINE_PASSWORD.');
    }
    const root = `${baseUrl}/dashboard/v1`;
    const signedIn = await fetch(`${root}/session`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ email, password }),
    });
    const session = (await bodyOf(signedIn));
    if (session.status !== 'signed_in') {
        throw new Error('This person has a second factor: read the log in the dashboard.');
    }
    const cookie = signedIn.headers
        .getSetCookie()
        .map((one) => one.split(';')[0])
        .join('; ');
    const get = async (path) => bodyOf(await fetch(root + path, { headers: { cookie } }));
    const account = options.account ?? sandbox?.account ?? (await onlyAccount(get));
    const mode = apiKey.startsWith('tlsk_live') ? 'live' : 'test';
    return async (limit) => {
        const page = await get(`/accounts/${account}/${mode}/request_log?limit=${limit}`);
        return page.data;
    };
}
async function onlyAccount(get) {
    const { data } = (await get('/accounts'));
    const [only, ...others] = data;
    if (only !== undefined && others.length === 0)
        return only.id;
    throw new WrongUse(`Say which: --account, one of ${data.map(({ id }) => id).join(', ')}.`);
}
async function bodyOf(response) {
    const body = (await response.json());
    if (response.ok)
        return body;
    const { code = null, message = `The dashboard answered ${response.status}.` } = body.error ?? {};
    throw new TaplineError(message, { status: response.status, code });
}
