import assert from 'node:assert/strict';
import { randomInt, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { buildApi } from '#app/api-role.ts';
import { type ApiDocument, endpointsOf } from '#docs/api-document.ts';
import { brunoCollection, postmanCollection } from '#docs/postman-and-bruno.ts';
import { startTestApi, type TestApi } from '#testkit/apis/api.ts';

interface Item {
  readonly name: string;
  readonly request: {
    readonly method: string;
    readonly header: readonly { readonly key: string; readonly value: string }[];
    readonly body?: { readonly raw: string };
    readonly url: {
      readonly raw: string;
      readonly query: readonly { readonly key: string; readonly disabled: boolean }[];
    };
  };
  readonly event?: readonly { readonly script: { readonly exec: readonly string[] } }[];
}

interface Collection {
  readonly info: { readonly schema: string };
  readonly auth: { readonly bearer: readonly { readonly value: string }[] };
  readonly variable: readonly { readonly key: string; readonly value: string }[];
  readonly item: readonly { readonly name: string; readonly item: readonly Item[] }[];
}

const file = path.join(import.meta.dirname, '../../openapi.json');
const document = JSON.parse(readFileSync(file, 'utf8')) as ApiDocument;
const postman = JSON.parse(postmanCollection(document).toString()) as Collection;
const items = postman.item.flatMap(({ item }) => item);
const bruno = new Map(brunoCollection(document).map(({ name, bytes }) => [name, `${bytes}`]));

let api: TestApi;
before(async () => {
  api = await startTestApi({ build: buildApi });
});
after(() => api?.close());

/** Returns the name of a document's path or a collection's URL, such as `GET /v1/payments/{}`. */
function plain(method: string, address: string): string {
  const below = address.replace('{{base_url}}', '').replaceAll(/\{+\w+\}+/g, '{}');
  return `${method.toUpperCase()} ${below}`;
}

test('each operation is once in both collections, under its group', () => {
  const expected = endpointsOf(document).map(({ method, path }) => plain(method, path));
  assert.ok(expected.length > 30);
  const inPostman = items.map(({ request }) => plain(request.method, request.url.raw));
  assert.deepEqual(inPostman.toSorted(), expected.toSorted());
  const requests = [...bruno.values()].flatMap((text) => {
    const result = /^(get|post|patch|put|delete) \{\n {2}url: (.*)$/m.exec(text);
    return result === null ? [] : [plain(result[1] ?? '', result[2] ?? '')];
  });
  assert.deepEqual(requests.toSorted(), expected.toSorted());
  const groups = new Set(endpointsOf(document).map(({ tags }) => tags[0]));
  assert.deepEqual(new Set(postman.item.map(({ name }) => name)), groups);
  for (const name of bruno.keys()) assert.match(name, /^tapline\/[A-Za-z /]+\.(bru|json)$/);
});

test('they contain no key, secret or id; every variable that is used is set', () => {
  const texts = [JSON.stringify(postman), ...bruno.values()];
  for (const text of texts) {
    assert.doesNotMatch(text, /\b(tlsk_(test|live)|tldk|whsec|agt)_[0-9A-Za-z+/]{4,}/);
    assert.doesNotMatch(text, /"\w+\\?": \\?"[a-z]{2,5}_[0-9A-Za-z]{10,}/);
  }
  const [address, ...others] = postman.variable;
  assert.equal(address?.key, 'base_url');
  assert.ok(others.length > 5 && others.every(({ value }) => value === ''));
  const known = new Set(postman.variable.map(({ key }) => key));
  const environment = bruno.get('tapline/environments/Network.bru') ?? '';
  assert.match(environment, /^vars:secret \[\n {2}api_key,\n {2}agent_token\n\]$/m);
  for (const [, name = ''] of texts.join('').matchAll(/\{\{(\w+)\}\}/g)) {
    assert.ok(known.has(name), name);
    assert.match(environment, new RegExp(`^ {2}${name}(: |,?$)`, 'm'));
  }
});

/** Requests that need a chain, a webhook receiver or a recent date, and the endless stream. */
const LEFT_OUT = /\/(events\/stream|test_helpers\/.*|confirm|test|replay|balance)$/;

test('their requests work against a running server, one after another', async () => {
  const known = new Map(postman.variable.map(({ key, value }) => [key, value]));
  known.set('base_url', `${api.url}/api`);
  known.set('api_key', api.merchant.test.key);
  known.set('terminal', api.merchant.test.terminal);
  const filled = (text: string) =>
    text
      .replaceAll('{{$guid}}', () => randomUUID())
      .replaceAll('{{$randomInt}}', () => String(randomInt(1000)))
      .replaceAll(/\{\{(\w+)\}\}/g, (_, name: string) => known.get(name) ?? '');
  const worked: string[] = [];
  const send = async ({ request, event }: Item) => {
    const needed = [...`${request.url.raw} ${request.body?.raw}`.matchAll(/\{\{(\w+)\}\}/g)];
    if (needed.some(([, name = '']) => known.get(name) === '')) return;
    const headers = request.header.map(({ key, value }) => [key, filled(value)] as const);
    const token = filled(postman.auth.bearer[0]?.value ?? '');
    const body = request.body === undefined ? null : filled(request.body.raw);
    const answer = await fetch(filled(request.url.raw), {
      ...{ method: request.method, body },
      headers: { ...Object.fromEntries(headers), Authorization: `Bearer ${token}` },
    });
    const text = await answer.text();
    assert.ok(answer.ok, `${request.method} ${request.url.raw}: ${text}`);
    worked.push(plain(request.method, request.url.raw));
    const keeps = /set\('(\w+)'/.exec(event?.[0]?.script.exec.join('') ?? '')?.[1];
    if (keeps !== undefined) known.set(keeps, JSON.parse(text).id);
  };
  const quick = items.filter(({ request }) => !LEFT_OUT.test(request.url.raw));
  const isLast = ({ request }: Item) => ['PATCH', 'DELETE'].indexOf(request.method);
  for (const item of quick.toSorted((a, b) => isLast(a) - isLast(b))) await send(item);
  // Two sales are two orders, because each click creates a new key and order ID.
  await send(items.find(({ request }) => request.url.raw.endsWith('/payment_intents')) as Item);
  for (const one of [
    ...['POST /v1/payment_intents', 'GET /v1/payment_intents/{}', 'GET /v1/payments'],
    ...['POST /v1/payment_intents/{}/cancel', 'GET /v1/refunds', 'GET /v1/terminals/{}'],
    ...['POST /v1/webhook_endpoints', 'DELETE /v1/webhook_endpoints/{}', 'GET /v1/request_log'],
  ]) {
    assert.ok(worked.includes(one), one);
  }
  assert.ok(worked.length >= 18, worked.join('\n'));
});
