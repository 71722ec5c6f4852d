import assert from 'node:assert/strict';
import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { ConnectionError, OutcomeUnknownError, Tapline, TaplineError } from 'tapline';
import { sign, verify } from 'tapline/webhooks';
import { testFolder } from '#testkit/fixtures/core/test-folder.ts';
import { listen } from '#testkit/network/listen.ts';
import { KEY, type ScriptedApi, startScriptedApi } from '../../sdk/test/scripted-api.ts';
import { CASES, type Call, type Case, INTENT, type Outcome } from './cases.ts';

/** Debian's php-guzzlehttp-guzzle: an independent PSR-18 client. */
const GUZZLE = '/usr/share/php/GuzzleHttp/autoload.php';
const run = promisify(execFile);
const DOCUMENT = path.join(import.meta.dirname, '../../docs/clients.md');
const MARKERS = /(<!-- made by test\/clients -->\n)[\s\S]*?(<!-- end -->)/;

/** The lines that every client returns in its refund. */
const RETURNED = [
  { line: 0, quantity: 1 },
  { line: 1, quantity: '0.350' },
];
const LIVE_KEY = KEY.replace('test', 'live');

interface Asked {
  readonly call: Call;
  readonly retries: number;
  readonly key?: string | undefined;
  readonly apiKey?: string;
  readonly baseUrl?: string;
}

interface Came {
  readonly outcome: Outcome;
  readonly id?: string;
  readonly key?: string;
  readonly line_items?: unknown;
}

/** Drives the client of one language. */
interface Client {
  readonly language: string;
  readonly agent: RegExp;
  call(request: Asked): Promise<Came>;
  /** Calls `resolve()` on the last unknown result. */
  resolve(): Promise<Came>;
  verify(message: Message): Promise<Came>;
  close(): Promise<void>;
}

/** A webhook as received. */
interface Message {
  readonly body: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly secret: string;
}

const TIMEOUT_S = 0.3;
/** A client must end an attempt this long after its time-out at the latest. */
const LATE_MS = 1_000;
/** True if the server never finishes its response, so that the time-out ends the attempt. */
const isSlow = ({ script }: Case) =>
  script.some((step) => step === 'hang' || (typeof step === 'object' && 'drips' in step));
/** Returns a short time-out for a slow server; otherwise one that no request reaches. */
const timeoutFor = (one: Case) => (isSlow(one) ? TIMEOUT_S : 5);

let api: ScriptedApi;
let timeout = TIMEOUT_S;
const clients: Client[] = [];
const folder = testFolder();
const isHere = (program: string) => spawnSync(program, ['version']).error === undefined;
const programs = ['python3', 'php', 'go'];
/** Without the curl extension, Guzzle's time-out limits each wait for bytes, not the attempt. */
const hasGuzzle = () =>
  existsSync(GUZZLE) && spawnSync('php', ['-r', 'curl_version();']).status === 0;

before(async () => {
  api = await startScriptedApi();
  clients.push(nodeClient());
  if (isHere('python3')) {
    clients.push(pythonClient('Python', 'sync'), pythonClient('Python, async', 'async'));
  }
  if (isHere('php')) clients.push(phpClient('PHP'));
  if (hasGuzzle()) clients.push(phpClient('PHP, PSR-18', 'psr18'));
  if (isHere('go')) clients.push(await goClient());
});

after(async () => {
  await Promise.all(clients.map((client) => client.close()));
  await api?.close();
});

function nodeClient(): Client {
  let unknown: OutcomeUnknownError | undefined;
  const cameOf = async (act: () => Promise<unknown>): Promise<Came> => {
    try {
      const { id, line_items } = (await act()) as { id: string; line_items?: unknown };
      return { outcome: 'ok', id, line_items };
    } catch (error) {
      unknown = error instanceof OutcomeUnknownError ? error : undefined;
      if (unknown !== undefined) return { outcome: 'unknown', key: unknown.idempotencyKey };
      assert.ok(error instanceof TaplineError, String(error));
      return { outcome: error instanceof ConnectionError ? 'no_answer' : 'refused' };
    }
  };
  const order = { amount: 2_500_000, terminal: 'tml_1', order_id: 'A-1' };
  return {
    language: 'Node',
    agent: /^tapline-js\/\d/,
    call: ({ call, retries: maxRetries, key }) => {
      const tapline = new Tapline(KEY, {
        ...{ baseUrl: api.baseUrl, maxRetries, timeout: timeout * 1_000 },
      });
      const options = key === undefined ? {} : { idempotencyKey: key };
      const endpoint = { url: 'https://shop.example', enabled_events: ['*' as const] };
      const calls: Record<Call, () => Promise<unknown>> = {
        create: async () => tapline.paymentIntents.create(order, options),
        refund: async () => tapline.refunds.create({ payment: 'pay_1', line_items: RETURNED }),
        retrieve: async () => tapline.payments.retrieve('pay_1'),
        register: async () => tapline.webhookEndpoints.create(endpoint),
      };
      return cameOf(calls[call]);
    },
    resolve: () => cameOf(async () => unknown?.resolve()),
    verify: ({ body, headers, secret }) =>
      cameOf(() => verify(body, new Headers(headers.map(([...pair]) => pair)), secret)),
    close: async () => {},
  };
}

function pythonClient(language: string, way: 'sync' | 'async', env = process.env): Client {
  const file = path.join(import.meta.dirname, 'drive.py');
  const child = spawn('python3', ['-B', file, way], { env });
  return drivenClient(child, { language, agent: /^tapline-python\/\d/ });
}

function phpClient(language: string, way = 'own', env = process.env): Client {
  const child = spawn('php', [path.join(import.meta.dirname, 'drive.php'), way], { env });
  return drivenClient(child, { language, agent: /^tapline-php\/\d/ });
}

/** Returns the Go client, compiled from local sources without a module proxy. */
async function goClient(own = process.env): Promise<Client> {
  const program = path.join(folder, 'drive');
  const env = { ...process.env, GOPROXY: 'off', GOFLAGS: '-mod=mod', GOTOOLCHAIN: 'local' };
  const cwd = path.join(import.meta.dirname, 'go');
  await run('go', ['build', '-o', program, '.'], { cwd, env });
  const child = spawn(program, { env: own });
  return drivenClient(child, { language: 'Go', agent: /^tapline-go\/\d/ });
}

function drivenClient(child: ChildProcess, who: Pick<Client, 'language' | 'agent'>): Client {
  const { tell, close } = driven(child);
  return {
    ...{ ...who, close },
    call: ({ apiKey = KEY, baseUrl = api.baseUrl, ...request }) =>
      tell({ ...request, timeout, api_key: apiKey, base_url: baseUrl }),
    resolve: () => tell({ resolve: true }),
    verify: (message) => tell({ verify: message }),
  };
}

/** Drives a child process that reads and writes lines of JSON. */
function driven(child: ChildProcess) {
  const { stdin, stdout } = child;
  assert.ok(stdin !== null && stdout !== null);
  const errors: string[] = [];
  child.stderr?.setEncoding('utf8').on('data', (text: string) => errors.push(text));
  const lines = createInterface(stdout)[Symbol.asyncIterator]();
  return {
    tell: async (request: object): Promise<Came> => {
      stdin.write(`${JSON.stringify(request)}\n`);
      const { value, done } = await lines.next();
      assert.ok(done !== true, errors.join(''));
      return JSON.parse(value);
    },
    close: async () => {
      stdin.end();
      if (child.exitCode === null) await once(child, 'exit');
    },
  };
}

function checkRequests(client: Client, one: Case): void {
  assert.equal(api.seen.length, one.requests);
  for (const { headers } of api.seen) {
    assert.match(String(headers['user-agent']), client.agent);
    assert.match(String(headers['service-version']), /^\d{4}-\d\d-\d\d$/);
    assert.equal(headers.authorization, `Bearer ${KEY}`);
  }
  const posts = api.seen.filter(({ method }) => method === 'POST');
  const sent = posts.map(({ headers, body }) => `${headers['idempotency-key']} ${body}`);
  assert.ok(new Set(sent).size <= 1, 'each try has the same key and bytes');
  assert.ok(posts.every(({ headers }) => Boolean(headers['idempotency-key'])));
}

async function hold(client: Client, one: Case): Promise<void> {
  timeout = timeoutFor(one);
  api.script(...one.script);
  const started = performance.now();
  const came = await client.call({ call: one.call, retries: one.retries ?? 3, key: one.key });
  const tookMs = performance.now() - started;
  assert.equal(came.outcome, one.outcome);
  if (isSlow(one)) assert.ok(tookMs < TIMEOUT_S * 1_000 + LATE_MS, `${tookMs} ms`);
  if (came.outcome === 'ok') assert.equal(came.id, INTENT.id);
  if (came.outcome === 'unknown') {
    const key = String(api.seen[0]?.headers['idempotency-key']);
    assert.equal(came.key, key);
    if (one.key !== undefined) assert.equal(key, one.key);
  }
  checkRequests(client, one);
  if (one.resolve === undefined) return;
  // Scripts the next steps, because the last step would otherwise repeat. Each step answers one
  // request, and all must be used.
  api.script(...one.resolve.script);
  const resolved = await client.resolve();
  assert.equal(resolved.outcome, one.resolve.outcome);
  if (resolved.outcome === 'ok') assert.equal(resolved.id, INTENT.id);
  const asks = api.seen.map(({ method, url }) => `${method} ${sorted(url.replace('/api/v1', ''))}`);
  assert.deepEqual([...new Set(asks)], one.resolve.asks);
  for (const { method, headers } of api.seen) {
    if (method === 'POST') assert.equal(headers['idempotency-key'], one.key);
  }
}

/** Sorts a URL's parameters, because languages order them differently. */
function sorted(url: string): string {
  const { pathname, searchParams } = new URL(url, 'http://api.example');
  searchParams.sort();
  return searchParams.size === 0 ? pathname : `${pathname}?${searchParams}`;
}

const held = new Map<string, string[]>();

for (const one of CASES) {
  test(`every client: ${one.name}`, async (t) => {
    for (const client of clients) {
      await t.test(client.language, async () => {
        await hold(client, one);
        held.set(one.name, [...(held.get(one.name) ?? []), client.language]);
      });
    }
  });
}

test('every client refunds lines of a sale, and returns those of the response', async (t) => {
  for (const client of clients) {
    await t.test(client.language, async () => {
      api.script({ status: 200, body: { ...INTENT, line_items: RETURNED } });
      const came = await client.call({ call: 'refund', retries: 0 });
      const body = { payment: 'pay_1', line_items: RETURNED };
      assert.deepEqual(JSON.parse(String(api.seen[0]?.body)), body);
      assert.deepEqual(came.line_items, RETURNED);
    });
  }
});

const SECRET = 'whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3';
const BODY = JSON.stringify({ id: 'evt_1', type: 'payment.succeeded', data: { object: {} } });

/** A digest has one valid spelling, because receivers store signatures to detect replays. */
const SIGNATURES: readonly (readonly [
  name: string,
  headers: (good: string) => string[],
  Outcome,
])[] = [
  ['one time and one digest in small letters', (good) => [good], 'ok'],
  ['two digests, of which one fits', (good) => [`${good},v1=${'0'.repeat(64)}`], 'ok'],
  ['the same time twice', (good) => [`${good.split(',')[0]},${good}`], 'refused'],
  ['another time before it', (good) => [`t=1,${good}`], 'refused'],
  ['another time behind it', (good) => [`${good},t=1`], 'refused'],
  ['the header twice', (good) => [good, good], 'refused'],
  ['the header again, with another time', (good) => [good, 't=1'], 'refused'],
  ['a digest in capitals', (good) => [good.replace(/v1=.*/, (v1) => inCapitals(v1))], 'refused'],
  [
    'a digest with one capital',
    (good) => [good.replace(/[a-f]/, (hex) => hex.toUpperCase())],
    'refused',
  ],
];

function inCapitals(v1: string): string {
  return `v1=${v1.slice('v1='.length).toUpperCase()}`;
}

for (const [name, headersOf, outcome] of SIGNATURES) {
  test(`every client: a signature with ${name} is ${outcome}`, async (t) => {
    const values = headersOf(await sign(BODY, SECRET));
    const headers = values.map((value) => ['Service-Signature', value] as const);
    for (const client of clients) {
      await t.test(client.language, async () => {
        const came = await client.verify({ body: BODY, headers, secret: SECRET });
        assert.equal(came.outcome, outcome);
        if (outcome === 'ok') assert.equal(came.id, 'evt_1');
      });
    }
    for (const program of programs.filter((one) => !isHere(one))) {
      await t.test(program, (t) => t.skip(`${program}: not on this machine`));
    }
  });
}

/** `UPDATE=1` writes the table into docs/clients.md. */
test('docs/clients.md shows the results of each client', (t) => {
  const missing = programs.filter((program) => !isHere(program));
  if (!hasGuzzle()) missing.push('php-guzzlehttp-guzzle and php-curl');
  if (missing.length > 0) return t.skip(`${missing.join(', ')}: not on this machine`);
  const languages = clients.map(({ language }) => language);
  const promises = CASES.map(({ name }) => {
    const others = languages.filter((language) => held.get(name)?.includes(language) !== true);
    return others.length === 0 ? `- ${name}` : `- ${name} (**not in ${others.join(', ')}**)`;
  });
  const head = `Each client (${languages.join('; ')}) keeps these promises:\n`;
  const table = `\n${[head, ...promises].join('\n')}\n\n`;
  const text = readFileSync(DOCUMENT, 'utf8');
  const expected = text.replace(MARKERS, (_, begin, end) => `${begin}${table}${end}`);
  if (process.env.UPDATE === '1') writeFileSync(DOCUMENT, expected);
  else assert.equal(text, expected, 'UPDATE=1 writes the table');
  assert.match(text, MARKERS);
});

test('the PHP client sends a live key over plain HTTP to this machine only', async (t) => {
  if (!isHere('php')) return t.skip('php is not installed');
  const autoload = path.join(import.meta.dirname, '../../php/autoload.php');
  const takes = async (key: string, address: string) => {
    const code = `require '${autoload}'; try { new Tapline\\Client('${key}', '${address}');
      echo 'taken'; } catch (Tapline\\UsageError $error) { echo $error->getMessage(); }`;
    return (await run('php', ['-r', code])).stdout;
  };
  for (const host of ['x', '127.0.0.1:80@x', 'localhost.x']) {
    assert.match(await takes('tlsk_live_x', `http://${host}/api`), /over https only/, host);
  }
  for (const host of ['localhost', '127.0.0.1:4242', '[::1]:1']) {
    assert.equal(await takes('tlsk_live_x', `http://${host}/api`), 'taken', host);
  }
  assert.equal(await takes('tlsk_live_x', 'https://x/api'), 'taken');
  assert.equal(await takes('tlsk_test_x', 'http://x/api'), 'taken');
});

/** Records everything that it receives, and opens no tunnel. */
async function startProxy() {
  const proxy = { received: '' };
  const server = createServer((socket) => {
    socket
      .on('error', () => {})
      .on('data', (bytes) => {
        proxy.received += bytes;
        socket.end('HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\nConnection: close\r\n\r\n');
      });
  });
  const { url, close } = await listen(server);
  return Object.assign(proxy, { url, close });
}

test('a live key goes past the proxies of the environment, except through a tunnel', async (t) => {
  const proxy = await startProxy();
  t.after(proxy.close);
  const names = [
    'HTTP_PROXY',
    'http_proxy',
    'HTTPS_PROXY',
    'https_proxy',
    'ALL_PROXY',
    'all_proxy',
  ];
  const set = Object.fromEntries(names.map((name) => [name, proxy.url]));
  const env = { ...process.env, ...set, NO_PROXY: '', no_proxy: '', NODE_USE_ENV_PROXY: '1' };
  const node = spawn(process.execPath, [path.join(import.meta.dirname, 'drive.mjs')], { env });
  const behind = [drivenClient(node, { language: 'Node', agent: /^tapline-js/ })];
  if (isHere('python3')) {
    behind.push(pythonClient('Python', 'sync', env), pythonClient('Python, async', 'async', env));
  }
  if (isHere('php')) behind.push(phpClient('PHP', 'own', env));
  if (isHere('go')) behind.push(await goClient(env));
  t.after(() => Promise.all(behind.map(({ close }) => close())));
  for (const client of behind) {
    await t.test(client.language, async () => {
      api.script({ status: 200, body: INTENT });
      proxy.received = '';
      const request = { call: 'retrieve', retries: 0, apiKey: LIVE_KEY } as const;
      for (const host of ['127.0.0.1', 'localhost']) {
        const baseUrl = api.baseUrl.replace('127.0.0.1', host);
        assert.equal((await client.call({ ...request, baseUrl })).outcome, 'ok', host);
      }
      assert.equal(proxy.received, '');
      const elsewhere = { ...request, baseUrl: 'https://pay.example/api' };
      assert.equal((await client.call(elsewhere)).outcome, 'no_answer');
      for (const line of proxy.received.split('\r\n\r\n').filter(Boolean)) {
        assert.match(line, /^CONNECT pay\.example:443 /);
      }
      assert.doesNotMatch(proxy.received, /tlsk_/);
    });
  }
});
