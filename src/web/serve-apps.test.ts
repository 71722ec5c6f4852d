import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { brotliCompressSync, brotliDecompressSync, gunzipSync } from 'node:zlib';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { present } from '#core/assert.ts';
import type { PageFor } from '#i18n/languages.ts';
import { WEB_APPS } from '#web/app-paths.ts';
import { ensureBuilt, ensureCompressed } from '#web/build-web-apps.ts';
import { addWebRoutes } from '#web/serve-apps.ts';

let app: FastifyInstance;
let folder: string;

before(async () => {
  folder = await ensureBuilt(tmpdir());
  app = fastify({ exposeHeadRoutes: false });
  const mayAsk = { receipt: ['https://rpc.example.com'] };
  await addWebRoutes(app, { folder, production: false, mayAsk });
});

after(() => app.close());

const get = (url: string, headers: Record<string, string> = {}) =>
  app.inject({ method: 'GET', url, headers });

test('a second build of the same sources is skipped', async () => {
  const changedAt = () => statSync(path.dirname(folder)).mtimeMs;
  const before = changedAt();
  assert.equal(await ensureBuilt(tmpdir()), folder);
  assert.equal(changedAt(), before, 'a build begins with a folder beside the others');
});

test('a build is compressed once as much as possible, and stays readable for all', async () => {
  await ensureCompressed(folder);
  const names = readdirSync(path.join(folder, 'assets')).filter((name) =>
    /^react-.*js$/.test(name),
  );
  const file = path.join(folder, 'assets', names[0] ?? '');
  const smallest = brotliCompressSync(readFileSync(file)).length;
  assert.equal(statSync(`${file}.br`).size, smallest);
  assert.equal(statSync(`${file}.br`).mode & 0o444, 0o444);
  const { mtimeMs } = statSync(`${file}.br`);
  await ensureCompressed(folder);
  assert.equal(statSync(`${file}.br`).mtimeMs, mtimeMs);
});

test('every app responds at its paths, and at any path below that it handles', async () => {
  for (const { paths, page } of WEB_APPS) {
    for (const path of paths) {
      const answer = await get(path.replace('*', 'some/where'));
      assert.equal(answer.statusCode, 200, path);
      assert.match(String(answer.headers['content-type']), /^text\/html/, path);
      assert.match(answer.body, / id="app"/, page);
    }
  }
});

test('a page finds its files at any base path of the service', async () => {
  const urls = ['/terminal', '/terminal/', '/dashboard/payments/pay_1', '/pay/abc?x=/y/z'];
  for (const url of urls) {
    const { body } = await get(url);
    const [, base = ''] = /<base href="([^"]+)">/.exec(body) ?? [];
    const [, script = ''] = /<script[^>]* src="([^"]+)"/.exec(body) ?? [];
    for (const prefix of ['', '/below', '/far/below']) {
      const root = new URL(base, `https://pay.example.com${prefix}${url}`);
      assert.equal(root.pathname, `${prefix}/`);
      const file = new URL(script, root).pathname.slice(prefix.length);
      assert.equal((await get(file)).statusCode, 200, file);
    }
  }
});

test('a policy allows our own files, and a foreign address for the app that needs it', async () => {
  for (const { paths, name } of WEB_APPS) {
    const answer = await get((paths[0] ?? '').replace('*', 'x'));
    const policy = String(answer.headers['content-security-policy']);
    assert.match(policy, /^default-src 'none'; script-src 'self'; style-src 'self';/);
    assert.doesNotMatch(policy, /unsafe/);
    assert.match(policy, /frame-ancestors 'none'/);
    assert.equal(policy.includes('https://rpc.example.com'), name === 'receipt');
    const permissions = String(answer.headers['permissions-policy']);
    assert.equal(permissions.includes('camera=(self)'), name === 'terminal', name);
    assert.match(permissions, /geolocation=\(\)/);
    assert.equal(answer.headers['referrer-policy'], 'no-referrer');
    assert.doesNotMatch(answer.body, /<style|style=|<script>/);
  }
});

test('files are sent in an encoding that the browser accepts, and cached forever', async () => {
  const { body } = await get('/terminal');
  const [, name = ''] = /\.\/(assets\/react-[^"]+\.js)/.exec(body) ?? [];
  const plain = await get(`/${name}`);
  const brotli = await get(`/${name}`, { 'accept-encoding': 'gzip, deflate, br' });
  const gzip = await get(`/${name}`, { 'accept-encoding': 'br;q=0, gzip' });
  assert.equal(brotli.headers['content-encoding'], 'br');
  assert.equal(gzip.headers['content-encoding'], 'gzip');
  assert.deepEqual(brotliDecompressSync(brotli.rawPayload), plain.rawPayload);
  assert.deepEqual(gunzipSync(gzip.rawPayload), plain.rawPayload);
  assert.ok(brotli.rawPayload.length < plain.rawPayload.length / 3);
  for (const answer of [plain, brotli]) {
    assert.equal(answer.headers['cache-control'], 'public, max-age=31536000, immutable');
    assert.equal(answer.headers.vary, 'Accept-Encoding');
  }
});

test('a page is revalidated each time, and not sent again while it is unchanged', async () => {
  const first = await get('/terminal');
  assert.equal(first.headers['cache-control'], 'no-cache');
  const tag = present(first.headers.etag, 'an ETag');
  const second = await get('/terminal', { 'if-none-match': tag });
  assert.equal(second.statusCode, 304);
  assert.equal(second.body, '');
});

test('the till may call a reader on its own computer, once one was added', async () => {
  const policyOf = async (path: string, cookie?: string) => {
    const answer = await get(path, cookie === undefined ? {} : { cookie });
    const [, sources = ''] =
      /connect-src ([^;]*);/.exec(String(answer.headers['content-security-policy'])) ?? [];
    return sources;
  };
  const added = 'theme=dark; tapline_reader_port=4244';
  assert.equal(await policyOf('/terminal'), "'self'");
  assert.equal(await policyOf('/terminal', added), "'self' ws://127.0.0.1:4244");
  assert.equal(await policyOf('/wallet', added), "'self'");
  for (const port of ['80', '65536', '4244 https://evil.example', '4244;ws:']) {
    const sources = await policyOf('/terminal', `tapline_reader_port=${port}`);
    assert.ok(["'self'", "'self' ws://127.0.0.1:4244"].includes(sources), `${port}: ${sources}`);
  }
  const { headers } = await get('/terminal');
  const again = await get('/terminal', { cookie: added, 'if-none-match': String(headers.etag) });
  assert.equal(again.statusCode, 200);
});

test('the till may call the fiscal signer that it names, and no other server', async () => {
  const sourcesOf = async (path: string, signer: string) => {
    const answer = await get(path, { cookie: `a=b; tapline_signer=${signer}` });
    return /connect-src ([^;]*);/.exec(String(answer.headers['content-security-policy']))?.[1];
  };
  for (const origin of ['https://signer.local:8443', 'https://10.0.0.1', 'http://127.0.0.1:4250']) {
    assert.equal(await sourcesOf('/terminal', origin), `'self' ${origin}`);
    assert.equal(await sourcesOf('/wallet', origin), "'self'");
  }
  const no = [
    'http://10.0.0.1',
    'https:',
    'https://*',
    'https://a b',
    '*',
    "'unsafe-eval'",
    'data:',
  ];
  for (const origin of no) assert.equal(await sourcesOf('/terminal', origin), "'self'", origin);
});

test('a service worker caches all files of its app, and may serve only that app', async () => {
  for (const { name, installable } of WEB_APPS) {
    const answer = await get(`/${name}/worker.js`);
    if (!installable) {
      assert.doesNotMatch(String(answer.headers['content-type']), /javascript/, name);
      continue;
    }
    const allowed = String(answer.headers['service-worker-allowed']);
    const script = `https://pay.test/below/${name}/worker.js`;
    assert.equal(new URL(allowed, script).pathname, `/below/${name}`);
    // Without this policy, the browser blocks the worker's requests, and nothing is cached.
    assert.match(String(answer.headers['content-security-policy']), /connect-src 'self'/);
    const [, json = ''] = /^globalThis\.SHELL=(.*);$/m.exec(answer.body) ?? [];
    const { files } = JSON.parse(json) as { files: string[] };
    assert.ok(files.length >= 3);
    for (const file of files) assert.equal((await get(`/${file}`)).statusCode, 200, file);
    const { body } = await get(`/${name}`);
    for (const [, file] of body.matchAll(/"\.\/(assets\/[^"]+)"/g)) {
      assert.ok(files.includes(file ?? ''), `${file} is cached`);
    }
    // A worker that imports other files would be incomplete.
    assert.doesNotMatch(answer.body, /\bimport\s*[{"']/);
  }
});

test('the components are not shown in production, nor the list of build files', async () => {
  const production = fastify();
  await addWebRoutes(production, { folder, production: true });
  assert.equal((await production.inject('/dev/ui')).statusCode, 404);
  assert.equal((await production.inject('/manifest.json')).statusCode, 404);
  assert.equal((await production.inject('/terminal')).statusCode, 200);
  await production.close();
});

const languageIn = async (url: string, headers: Record<string, string> = {}, on = app) => {
  const answer = await on.inject({ method: 'GET', url, headers });
  const [, tag = '', dir = ''] = /<html lang="([\w-]+)" dir="(\w+)">/.exec(answer.body) ?? [];
  const lang = tag.replace('en-x-qps', 'qps');
  assert.equal(answer.headers['content-language'], lang, url);
  return { lang, dir, vary: String(answer.headers.vary), body: answer.body };
};

test('a page is in the language of its address or its browser, or else English', async () => {
  const pseudo = { 'accept-language': 'qps;q=0.9, xx' };
  for (const page of ['/pay/x', '/receipts/x']) {
    const shown = await languageIn(`${page}?lang=qps`);
    assert.deepEqual([shown.lang, shown.dir], ['qps', 'rtl'], page);
    assert.match(shown.vary, /\bAccept-Language\b/);
    assert.equal((await languageIn(page, pseudo)).lang, 'qps');
    assert.equal((await languageIn(`${page}?lang=en`, pseudo)).lang, 'en');
    for (const none of ['', '?lang=', '?lang=xx', '?lang=qps2', '?lang=en&lang=qps']) {
      assert.equal((await languageIn(`${page}${none}`)).lang, 'en', none);
    }
  }
  const [, title = ''] = /<title>([^<]*)/.exec((await languageIn('/pay/x?lang=qps')).body) ?? [];
  assert.match(title, /^Ƥ/, 'its own words too');
});

test('customers see the shop’s language only if their browser requests none', async () => {
  const shop = fastify();
  const gates = {
    pay: async (_request: FastifyRequest, _reply: FastifyReply, pageFor: PageFor) =>
      pageFor('qps').html,
  };
  await addWebRoutes(shop, { folder, production: false, gates });
  const read = async (query: string, accept?: string) => {
    const headers = accept === undefined ? {} : { 'accept-language': accept };
    return (await languageIn(`/pay/x${query}`, headers, shop)).lang;
  };
  assert.equal(await read(''), 'qps');
  assert.equal(await read('', 'it, *;q=0.5, en;q=0'), 'qps');
  assert.equal(await read('?lang='), 'qps');
  assert.equal(await read('?lang=xx', 'en-GB'), 'en');
  assert.equal(await read('?lang=en', 'qps'), 'en');
  await shop.close();
});

test('a cookie switches the language of owners’ apps, unless the address sets it', async () => {
  const cookie = 'theme=dark; tapline_language=qps';
  for (const page of ['/terminal', '/wallet', '/dashboard', '/dashboard/payments']) {
    const switched = await languageIn(page, { cookie });
    assert.equal(switched.lang, 'qps', page);
    assert.match(switched.vary, /\bAccept-Language, Cookie\b/);
    assert.equal((await languageIn(`${page}?lang=en`, { cookie })).lang, 'en');
  }
  assert.equal((await languageIn('/pay/x', { cookie })).lang, 'en');
  assert.equal((await languageIn('/operator?lang=qps', { cookie })).lang, 'en');
});

test('the display of a till is in the language of its address or its browser', async () => {
  const cookie = 'tapline_language=qps';
  assert.equal((await languageIn('/terminal?display', { cookie })).lang, 'en');
  const shown = await languageIn('/terminal?display&lang=qps', { 'accept-language': 'en' });
  assert.equal(shown.lang, 'qps');
  assert.doesNotMatch(shown.vary, /Cookie/);
});

test('a service worker notifies in the language of its app', async () => {
  const read = async (headers: Record<string, string>) => {
    const answer = await get('/wallet/worker.js', headers);
    const [, json = ''] = /^globalThis\.SHELL=(.*);$/m.exec(answer.body) ?? [];
    return { ...JSON.parse(json), said: answer.headers['content-language'], ...answer };
  };
  const english = await read({});
  assert.deepEqual([english.said, english.reading.dir], ['en', 'ltr']);
  assert.equal(english.notices.ring.title, 'A payment needs your approval');
  const switched = await read({ cookie: 'tapline_language=qps' });
  assert.deepEqual(switched.reading, { lang: 'en-x-qps', dir: 'rtl' });
  for (const { title, body } of Object.values(switched.notices) as Record<string, string>[]) {
    assert.doesNotMatch(`${title} ${body}`, /[a-z]{2}/i);
  }
  assert.match(String(switched.headers.vary), /\bAccept-Language, Cookie\b/);
  assert.equal((await read({ 'accept-language': 'qps' })).said, 'qps');
});

test('a page loads only the texts of its language, before its code', async () => {
  const { body } = await languageIn('/pay/x?lang=qps');
  const scripts = [...body.matchAll(/<script[^>]* src="\.\/([^"]+)"/g)].map(
    ([, file = '']) => file,
  );
  assert.match(scripts[0] ?? '', /^assets\/texts-pay-qps-/);
  assert.equal(scripts.filter((file) => file.includes('texts-')).length, 1);
  const texts = await get(`/${scripts[0]}`);
  assert.match(texts.body, /^globalThis\.TEXTS=\{"language":"qps"/);
  assert.match(String(texts.headers['cache-control']), /immutable/);
});

test('production offers no pseudo-language', async () => {
  const production = fastify();
  await addWebRoutes(production, { folder, production: true });
  assert.equal((await languageIn('/pay/x?lang=qps', {}, production)).lang, 'en');
  assert.doesNotMatch((await production.inject('/terminal')).body, /qps/);
  await production.close();
});
