import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import MiniSearch from 'minisearch';
import { buildApi } from '#app/api-role.ts';
import { startTestApi } from '#testkit/apis/api.ts';
import { openForTests } from '#testkit/fixtures/core/open-for-tests.ts';

const MAX_INDEX_BYTES = 300_000;
/** Compressed, because the index loads at the first key. */
const MAX_LOADED_BYTES = 110_000;
/** A reader looks at this many results. */
const FIRST = 3;

type Find = (text: string) => readonly { readonly href: string; readonly title: string }[];

let find: Find;
const api = openForTests(
  () => startTestApi({ build: buildApi }),
  async () => {
    const { createFinder } = await import(
      `data:text/javascript,${encodeURIComponent(await served('find-pages.js'))}`
    );
    find = createFinder(MiniSearch, JSON.parse(await served('search.json')));
  },
);

async function served(file: string): Promise<string> {
  const response = await fetch(`${api.url}/docs/${file}`);
  assert.equal(response.status, 200, file);
  return response.text();
}

function pagesFor(text: string): string[] {
  return find(text).map(({ href }) => href.replace(/^\/docs\/|#.*$/g, ''));
}

const SEARCHES = {
  'partial refund': 'refunds',
  'how do I refund a customer': 'refunds',
  vat: 'prices',
  taxes: 'prices',
  discount: 'prices',
  'what does it cost': 'fees',
  backup: 'operate',
  'restore a backup': 'operate',
  upgrade: 'upgrading',
  withdrawal: 'your-money',
  gratuity: 'tips',
  'verify signature': 'webhooks',
  accounting: 'books',
  'pair a till': 'terminals',
  'insufficient funds': 'testing',
  'cashier pin': 'cashiers',
  hardware: 'what-to-buy',
  gdpr: 'legal',
  stripe: 'coming-from',
  'create payment intent': 'api/payment-intents',
};

const MISTYPED = {
  webhok: 'webhooks',
  signture: 'webhooks',
  upgarde: 'upgrading',
  'bank acount': 'bank-account',
  idempotnecy: 'api/idempotency-keys',
  'ofline payments': 'offline',
  quickboks: 'books',
  'cash regsiter': 'cash-registers',
  refnud: 'refunds',
  'ai agnets': 'agents',
  orgnization: 'organizations',
  currencys: 'prices',
  golive: 'going-live',
  recipts: 'receipts',
  quickstrat: 'quickstart',
  'cancel paymnet': 'api/payment-intents',
  withdrwal: 'your-money',
  discuont: 'prices',
  troubelshooting: 'troubleshooting',
  'tip precentages': 'tips',
};

for (const [kind, searches] of Object.entries({ 'as typed': SEARCHES, mistyped: MISTYPED })) {
  test(`twenty searches, ${kind}, find the right page among the first three`, () => {
    const missed = Object.entries(searches).filter(
      ([text, page]) => !pagesFor(text).slice(0, FIRST).includes(page),
    );
    assert.deepEqual(
      missed.map(([text]) => [text, pagesFor(text).slice(0, FIRST)]),
      [],
    );
  });
}

test('a word is not found within another one, and nonsense finds nothing', () => {
  for (const { title } of find('vat')) assert.doesNotMatch(title, /private/i);
  assert.deepEqual(find('qqqxzzk'), []);
  assert.deepEqual(find('what is the'), []);
});

test('the index and the search stay small', async () => {
  const index = await served('search.json');
  assert.ok(Buffer.byteLength(index) <= MAX_INDEX_BYTES, `${Buffer.byteLength(index)} bytes`);
  const files = [index, await served('minisearch.js'), await served('find-pages.js')];
  const bytes = files.reduce((sum, text) => sum + gzipSync(text, { level: 9 }).length, 0);
  assert.ok(bytes <= MAX_LOADED_BYTES, `${bytes} bytes`);
});
