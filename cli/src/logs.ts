import { setTimeout as sleep } from 'node:timers/promises';
import { TaplineError } from 'tapline';
import { nodeFetch } from 'tapline/node-fetch';
import type { Settings } from './settings.ts';
import { WrongUse } from './wrong-use.ts';

export interface LogsOptions {
  /** A status such as `404` or a class such as `4xx`. */
  readonly status?: string;
  readonly method?: string;
  readonly limit: string;
  readonly follow: boolean;
  readonly email?: string;
  readonly account?: string;
}

interface LoggedRequest {
  readonly id: string;
  readonly created: string;
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly code: string | null;
  readonly duration_ms: number;
}

const LOOK_EVERY_MS = 1_000;

/**
 * An API key gives access to the requests of servers; a signed-in user also sees those of people
 * and tills.
 */
export async function logs(settings: Settings, options: LogsOptions): Promise<number> {
  const fits = filterOf(options);
  const read = await reader(settings, options);
  const { out } = settings;
  const seen = new Set<string>();
  let first = true;
  const control = new AbortController();
  process.once('SIGINT', () => control.abort()).once('SIGTERM', () => control.abort());
  do {
    const requests = (await read(100)).filter(fits);
    const fresh = requests.filter(({ id }) => !seen.has(id));
    const shown = first ? fresh.slice(0, Number(options.limit)) : fresh;
    for (const one of requests) seen.add(one.id);
    for (const request of shown.reverse()) {
      const { created, status, method, path, code, duration_ms } = request;
      const words = `${created}  ${status}  ${method} ${path}  ${code ?? ''}  ${duration_ms} ms`;
      out.show(request, words);
    }
    first = false;
    const paused = { signal: control.signal };
    if (options.follow) await sleep(LOOK_EVERY_MS, undefined, paused).catch(() => {});
  } while (options.follow && !control.signal.aborted);
  return 0;
}

function filterOf({ status, method }: LogsOptions): (request: LoggedRequest) => boolean {
  if (status !== undefined && !/^([1-5]xx|[1-5]\d\d)$/i.test(status)) {
    throw new WrongUse(`--status takes 404 or 4xx, not ${status}.`);
  }
  const pattern = new RegExp(`^${(status ?? '...').replaceAll(/x/gi, '\\d')}$`);
  return (request) =>
    pattern.test(String(request.status)) &&
    (method === undefined || request.method === method.toUpperCase());
}

/**
 * Returns the user to sign in as. If the URL comes from a sandbox's file, ignores credentials meant
 * for another network.
 */
function personOf({ sandbox, isFromSandbox }: Settings, options: LogsOptions) {
  if (sandbox !== null && isFromSandbox) {
    if (options.email === undefined) return sandbox.dashboard;
    throw new WrongUse('Pass --base-url, too. Without it, the sandbox user is used.');
  }
  const { TAPLINE_EMAIL, TAPLINE_PASSWORD } = process.env;
  return {
    email: options.email ?? TAPLINE_EMAIL ?? sandbox?.dashboard.email,
    password: TAPLINE_PASSWORD ?? sandbox?.dashboard.password,
  };
}

type Read = (limit: number) => Promise<readonly LoggedRequest[]>;

/** The key may lack the scope or be older than it; in a sandbox, the demo user reads instead. */
async function reader(settings: Settings, options: LogsOptions): Promise<Read> {
  const { sandbox, tapline } = settings;
  if (options.email !== undefined || options.account !== undefined)
    return signIn(settings, options);
  const read: Read = async (limit) => (await tapline.requestLog.list({ limit }).page).data;
  try {
    await read(1);
    return read;
  } catch (error) {
    const { code } = error as TaplineError;
    const isPerson = sandbox !== null || process.env.TAPLINE_EMAIL !== undefined;
    if (isPerson && (code === 'scope_missing' || code === 'route_missing')) {
      return signIn(settings, options);
    }
    if (code !== 'scope_missing') throw error;
    throw new WrongUse('This key lacks the scope logs:read. Add it, or sign in with --email.');
  }
}

async function signIn(settings: Settings, options: LogsOptions): Promise<Read> {
  const { sandbox, baseUrl, apiKey } = settings;
  const { email, password } = personOf(settings, options);
  if (email === undefined || password === undefined) {
    throw new WrongUse(
      'Reading the request log requires a dashboard user: set TAPLINE_EMAIL and ' +
        'TAPLINE_PASSWORD.',
    );
  }
  const root = `${baseUrl}/dashboard/v1`;
  const signedIn = await nodeFetch(`${root}/session`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ email, password }),
  });
  const session = (await bodyOf(signedIn)) as { status: string };
  if (session.status !== 'signed_in') {
    throw new Error('This user has a second factor, so the log can be read only in the dashboard.');
  }
  const cookie = signedIn.headers
    .getSetCookie()
    .map((one) => one.split(';')[0])
    .join('; ');
  const get = async (path: string) => bodyOf(await nodeFetch(root + path, { headers: { cookie } }));
  const account = options.account ?? sandbox?.account ?? (await onlyAccount(get));
  const mode = apiKey.startsWith('tlsk_live') ? 'live' : 'test';
  return async (limit) => {
    const page = await get(`/accounts/${account}/${mode}/request_log?limit=${limit}`);
    return (page as { data: LoggedRequest[] }).data;
  };
}

async function onlyAccount(get: (path: string) => Promise<unknown>): Promise<string> {
  const { data } = (await get('/accounts')) as { data: readonly { readonly id: string }[] };
  const [only, ...others] = data;
  if (only !== undefined && others.length === 0) return only.id;
  throw new WrongUse(
    `Choose an account: --account with one of ${data.map(({ id }) => id).join(', ')}.`,
  );
}

async function bodyOf(response: Response): Promise<unknown> {
  const body = (await response.json()) as { error?: { code: string; message: string } };
  if (response.ok) return body;
  const { code = null, message = `The dashboard answered ${response.status}.` } = body.error ?? {};
  throw new TaplineError(message, { status: response.status, code });
}
