import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { formatUsdc, orderId, Tapline, usdc } from 'tapline';
import { ensurePackages } from '../../src/packages/build-packages.ts';
import { KEY } from './scripted-api.ts';

const ROOT = path.join(import.meta.dirname, '../..');
const DIST = path.join(await ensurePackages(), 'sdk/dist');
const WHOLE_BYTES = 10_000;
/** Budget for two signature formats and the key cache. */
const WEBHOOKS_BYTES = 1_500;

/** Returns the compressed size of these published modules. */
function gzipped(files: readonly string[]): number {
  const text = files.map((file) => readFileSync(path.join(DIST, file), 'utf8')).join('');
  return gzipSync(text, { level: 9 }).length;
}

function withImports(file: string, seen = new Set<string>()): Set<string> {
  seen.add(file);
  const text = readFileSync(path.join(DIST, file), 'utf8');
  for (const [, current = ''] of text.matchAll(/from ?['"]\.\/([\w-]+\.js)['"]/g)) {
    if (!seen.has(current)) withImports(current, seen);
  }
  return seen;
}

test('the package is at most 10 KB, its webhooks alone at most 1,500 bytes', (t) => {
  const whole = gzipped(readdirSync(DIST).filter((name) => name.endsWith('.js')));
  const webhooks = gzipped([...withImports('webhooks.js')]);
  t.diagnostic(`whole ${whole} bytes, webhooks ${webhooks} bytes`);
  assert.ok(whole <= WHOLE_BYTES, `${whole} bytes`);
  assert.ok(webhooks <= WEBHOOKS_BYTES, `${webhooks} bytes`);
});

test('the package needs no other package and nothing of Node', () => {
  const manifest = JSON.parse(readFileSync(path.join(ROOT, 'sdk/package.json'), 'utf8'));
  assert.equal(manifest.dependencies ?? manifest.peerDependencies, undefined);
  assert.equal(manifest.sideEffects, false);
  const files = readdirSync(DIST).filter((name) => name.endsWith('.js'));
  assert.ok(files.length > 8);
  for (const file of files) {
    const text = readFileSync(path.join(DIST, file), 'utf8');
    for (const [, from] of text.matchAll(/(?:from|import\() ?['"]([^'"]+)['"]/g)) {
      assert.match(String(from), /^\.\//, `${file} imports ${from}`);
    }
    // This module alone reads `process`, if there is one: workers have none.
    if (file !== 'node-fetch.js') assert.doesNotMatch(text, /\bprocess\b/, file);
    assert.doesNotMatch(text, /\b(Buffer|require|__dirname)\b/, file);
  }
});

/** Calls every method of every resource and records the request that it would send. */
async function routesOfMethods(): Promise<Set<string>> {
  const routes = new Set<string>();
  const note: typeof fetch = async (input, init) => {
    const { pathname } = new URL(String(input));
    const template = pathname.replace('/api', '').replaceAll(/\/x(?=\/|$)/g, '/{id}');
    routes.add(`${init?.method ?? 'GET'} ${template}`);
    const body = { data: [], has_more: false, next_cursor: null, id: 'x', status: 'succeeded' };
    return Response.json(body);
  };
  const tapline = new Tapline(KEY, { fetch: note }) as unknown as Record<string, object>;
  for (const resource of Object.values(tapline)) {
    for (const name of Object.getOwnPropertyNames(Object.getPrototypeOf(resource))) {
      if (name === 'constructor' || name === 'stream') continue;
      const method = (resource as Record<string, (...args: unknown[]) => unknown>)[name];
      // Methods take an id, then a body or options; those without an id ignore the string.
      const result = method?.call(resource, ...(method.length === 0 ? [{}] : ['x', {}]));
      await ((result as { page?: unknown }).page ?? result);
    }
  }
  return routes;
}

test('every operation has a method', async () => {
  const { paths } = JSON.parse(readFileSync(path.join(ROOT, 'openapi.json'), 'utf8')) as {
    paths: Record<string, Record<string, unknown>>;
  };
  const operations = Object.entries(paths).flatMap(([route, item]) =>
    Object.keys(item).map((method) => `${method.toUpperCase()} ${route}`),
  );
  assert.ok(operations.length >= 30);
  const methods = await routesOfMethods();
  const missing = operations
    // This operation's method is named differently: `events.stream`.
    .filter((operation) => operation !== 'GET /v1/events/stream')
    .filter((operation) => !methods.has(operation.replaceAll(/\{\w+\}/g, '{id}')));
  assert.deepEqual(missing, []);
});

test('usdc() reads amounts exactly, and refuses ambiguous ones', () => {
  const right = { '2.50': 2_500_000, '0.000001': 1, '1000000': 1e12, '0.1': 100_000, '007': 7e6 };
  for (const [text, atoms] of Object.entries(right)) assert.equal(usdc(text), atoms);
  const wrong = ['2,50', '', '.5', '5.', '1e3', '-1', ' 1', '1 USDC', '0.0000001', '١', '0x10'];
  for (const text of wrong) assert.throws(() => usdc(text), { name: 'UsageError' }, text);
  assert.throws(() => usdc(2.5 as unknown as string), /received the number 2.5.*usdc\('2.50'\)/);
});

test('formatUsdc() is the inverse', () => {
  const pairs = {
    '2.50': 2_500_000,
    '0.000001': 1,
    '0.00': 0,
    '12.3456': 12_345_600,
    '-1.00': -1e6,
  };
  for (const [text, atoms] of Object.entries(pairs)) assert.equal(formatUsdc(atoms), text);
  assert.throws(() => formatUsdc(0.5), { name: 'UsageError' });
});

test('orderId() keeps valid names, and maps others to the same 8 characters each time', () => {
  for (const text of ['A-1001', '7', 'a_b-C012']) assert.equal(orderId(text), text);
  // An independent program computed these ids. The clients of all languages must produce them.
  const made = { order_01HZX3V0M7: 'r-Nyt8hN', 'Bestellung Nr. 12 – Köln': '9uMFAlKK' };
  for (const [text, id] of Object.entries(made)) assert.equal(orderId(text), id);
  const many = Array.from({ length: 20_000 }, (_, n) => orderId(`order_${1_000_000 + n}`));
  assert.equal(new Set(many).size, many.length);
  assert.ok(many.every((id) => /^[A-Za-z0-9_-]{8}$/.test(id)));
  for (const wrong of ['', undefined, 1001]) {
    assert.throws(() => orderId(wrong as string), {
      name: 'UsageError',
      message: /takes a string/,
    });
  }
});
