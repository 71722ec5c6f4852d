import { TaplineError } from 'tapline';
import { nodeFetch } from 'tapline/node-fetch';
import { compareWithServed } from './compare-with-served.ts';
import { checkReceiver, deliveryHeaders, listenSecret } from './forward-events.ts';
import { knownHoles } from './node-holes.ts';
import type { Settings } from './settings.ts';

interface Finding {
  readonly check: string;
  readonly ok: boolean;
  /** The result of the check and, if it found a problem, the remedy. */
  readonly detail: string;
}

export interface DoctorOptions {
  readonly receiver?: string;
  readonly secret?: string;
}

/**
 * Clock difference that triggers a warning: a tenth of the 300 s after which receivers refuse
 * messages.
 */
const CLOCK_SKEW_S = 30;
const TIMEOUT_MS = 10_000;
/** Twelve times the age at which receivers refuse messages. */
const OLD_S = 3_600;
const WRONG_SECRET = 'whsec_d3Jvbmc=';

/** Checks for common problems. @returns exit code 1 if it finds one. */
export async function doctor(settings: Settings, options: DoctorOptions): Promise<number> {
  const findings = [
    ...(await checkAddress(settings)),
    await checkKey(settings),
    await checkTerminal(settings),
    await checkEndpoints(settings),
    await checkPackages(settings),
    checkNode(),
    ...(options.receiver === undefined ? [] : await checkReceiving(settings, options)),
  ];
  for (const finding of findings) {
    const { check, ok, detail } = finding;
    settings.out.show(finding, `${ok ? 'ok ' : 'NO '} ${check}: ${detail}`);
  }
  return findings.every(({ ok }) => ok) ? 0 : 1;
}

function checkNode(): Finding {
  const { node } = process.versions;
  const holes = knownHoles(node);
  return { check: 'node', ok: holes === null, detail: holes ?? `${node}, no known holes` };
}

async function checkAddress({ baseUrl, source }: Settings): Promise<Finding[]> {
  const check = 'address';
  const url = new URL('/readyz', baseUrl);
  try {
    const before = Date.now();
    const response = await nodeFetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS) });
    const here = (before + Date.now()) / 2;
    const { networks = {} } = (await response.json()) as { networks?: Record<string, Network> };
    const ill = Object.entries(networks).filter(([, { settles }]) => !settles);
    const reasons = ill.map(([name, { reasons }]) => `${name} does not settle (${reasons})`);
    return [
      { check, ok: response.ok, detail: `${baseUrl}, from ${source}: ${response.status}` },
      { check: 'networks', ok: ill.length === 0, detail: reasons.join('; ') || 'all settle' },
      ...Object.entries(networks).flatMap(([name, network]) => checkToken(name, network)),
      checkClock(response, here),
    ];
  } catch (error) {
    const { message, cause } = error as Error & { cause?: Error };
    const why = cause?.message || message;
    const detail = `${url} does not answer (${why}). Is the network running? Is the port correct?`;
    return [{ check, ok: false, detail }];
  }
}

/** A network's part of `/readyz`. Older services omit the token. */
interface Network {
  readonly settles: boolean;
  readonly reasons: readonly string[];
  readonly token?: Readonly<Record<'name' | 'version', string>> & {
    readonly problem: string | null;
  };
}

function checkToken(network: string, { token }: Network): Finding[] {
  if (!token) return [];
  const { name, version, problem } = token;
  const detail = problem ?? `"${name}", version "${version}"`;
  return [{ check: `token of the ${network}`, ok: problem === null, detail }];
}

function checkClock(response: Response, here: number): Finding {
  const there = Date.parse(response.headers.get('Date') ?? '');
  // The `Date` header has whole seconds, so this assumes the middle of the second.
  const skew = Math.abs(here - there - 500) / 1_000;
  const ok = !(skew > CLOCK_SKEW_S);
  const advice = 'Correct this clock: signatures are refused when it is 300 s off.';
  return { check: 'clock', ok, detail: `${skew.toFixed(1)} s off.${ok ? '' : ` ${advice}`}` };
}

function failed(check: string, error: unknown): Finding {
  const { message, code } = error as TaplineError;
  return {
    check,
    ok: false,
    detail: error instanceof TaplineError ? `${code}: ${message}` : message,
  };
}

async function checkKey({ tapline, apiKey }: Settings): Promise<Finding> {
  const check = 'key';
  try {
    await tapline.events.list({ limit: 1 }).page;
    return { check, ok: true, detail: `${apiKey.slice(0, 9)}…, can read events` };
  } catch (error) {
    return failed(check, error);
  }
}

async function checkTerminal({ tapline }: Settings): Promise<Finding> {
  const check = 'terminals';
  try {
    const { data } = await tapline.terminals.list({ status: 'active', limit: 1 }).page;
    const [terminal] = data;
    if (terminal !== undefined) return { check, ok: true, detail: `${terminal.id} is active` };
    return { check, ok: false, detail: 'no active terminal: add one in the dashboard' };
  } catch (error) {
    return failed(check, error);
  }
}

async function checkEndpoints({ tapline }: Settings): Promise<Finding> {
  const check = 'webhook endpoints';
  try {
    const { data } = await tapline.webhookEndpoints.list().page;
    const ill = data.filter(({ status, failing_since }) => status !== 'enabled' || failing_since);
    const words = ill.map(({ id, status, failing_since }) =>
      failing_since ? `${id} has been failing since ${failing_since}` : `${id} is ${status}`,
    );
    return { check, ok: ill.length === 0, detail: words.join('; ') || `${data.length} working` };
  } catch (error) {
    return failed(check, error);
  }
}

async function checkPackages({ baseUrl }: Settings): Promise<Finding> {
  const check = 'packages';
  try {
    return { check, ...(await compareWithServed(baseUrl)) };
  } catch (error) {
    return failed(check, error);
  }
}

async function checkReceiving(settings: Settings, options: DoctorOptions): Promise<Finding[]> {
  const url = checkReceiver(options.receiver ?? '');
  const secret = options.secret ?? listenSecret(settings.apiKey);
  const signer = options.secret ? 'your secret' : 'the secret of `tapline listen`';
  const event = { id: 'evt_doctor', object: 'event', type: 'ping', data: { object: {} } };
  const body = JSON.stringify(event);
  const now = Math.floor(Date.now() / 1_000);
  const send = async (signed: { secret: string; now: number }): Promise<number | string> => {
    const headers = await deliveryHeaders(event as never, { body, ...signed, attempt: 1 });
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    return nodeFetch(url, { method: 'POST', headers, body, redirect: 'manual', signal }).then(
      ({ status }) => status,
      (error: Error & { cause?: Error }) => error.cause?.message || error.message,
    );
  };
  const good = await send({ secret, now });
  const reachable: Finding = {
    check: 'receiver accepts a signed message',
    ok: typeof good === 'number' && good >= 200 && good < 300,
    detail: `${url} answered ${good} instead of 2xx. The message was signed with ${signer}.`,
  };
  if (typeof good !== 'number') return [reachable];
  // Both signatures of a message are wrong, because a receiver checks only one of them.
  const wrong = [
    ['a wrong signature', { secret: WRONG_SECRET, now }],
    ['an old signature', { secret, now: now - OLD_S }],
  ] as const;
  const refusals: Finding[] = [];
  for (const [what, signed] of wrong) {
    const status = await send(signed);
    const ok = typeof status === 'number' && status >= 400 && status < 500;
    const advice = ok ? '' : ' It must answer 4xx; otherwise anyone could send you events.';
    refusals.push({
      check: `receiver refuses ${what}`,
      ok,
      detail: `it answered ${status}.${advice}`,
    });
  }
  return [reachable, ...refusals];
}
