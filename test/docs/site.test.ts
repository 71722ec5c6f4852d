import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { buildApi } from '#app/api-role.ts';
import { ERROR_CODES } from '#core/error-codes.ts';
import { DECLINES } from '#payments/decline-codes.ts';
import { startTestApi } from '#testkit/apis/api.ts';
import { openForTests } from '#testkit/fixtures/core/open-for-tests.ts';

/** Compressed with gzip -9, without images. */
const BUDGET_BYTES = 12_000;
/** People search these within the page: an operator’s steps, and the formats of exports. */
const LONG_PAGES = new Set(['/docs/operate', '/docs/books']);

let pages: ReadonlyMap<string, string>;

const get = (path: string, headers: Record<string, string> = {}) =>
  fetch(api.url + path, { headers });

/** Returns the links of a page within this site. */
function linksOf(html: string): string[] {
  return [...html.matchAll(/ (?:href|src)="([^"]+)"/g)].map(([, to = '']) => to);
}

/** Returns every page reachable from `/docs`. */
async function crawl(): Promise<Map<string, string>> {
  const results = new Map<string, string>();
  const waiting = ['/docs'];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (results.has(path)) continue;
    const response = await get(path);
    assert.equal(response.status, 200, path);
    const html = await response.text();
    results.set(path, html);
    for (const link of linksOf(html)) {
      const [to = ''] = link.split('#');
      if (to.startsWith('/docs') && !/[.?]/.test(to)) waiting.push(to);
    }
  }
  return results;
}

const api = openForTests(
  () => startTestApi({ build: buildApi }),
  async () => {
    pages = await crawl();
  },
);

const GUIDES = [
  ...[
    'quickstart',
    'webhooks',
    'declines',
    'refunds',
    'tips',
    'prices',
    'receipts',
    'books',
    'organizations',
    'terminals',
    'cashiers',
    'wallets',
  ],
  ...['agents', 'testing', 'going-live', 'coming-from', 'shop-systems', 'cash-registers'],
  ...['customers', 'handout', 'what-to-buy', 'fees', 'bank-account', 'legal'],
  ...['troubleshooting', 'upgrading'],
  ...['operate', 'incident', 'security'],
];

test('the guides are linked by name, each with its Markdown beside it', async () => {
  const index = pages.get('/docs') ?? '';
  for (const name of GUIDES) {
    assert.ok(index.includes(`href="/docs/${name}"`), name);
    // The overview shows this sentence after the page's link, below the navigation.
    const [, lead] =
      new RegExp(`href="/docs/${name}">[^<]*</a>\\s+(\\w[^<!]*\\.)\\s*<`).exec(index) ?? [];
    assert.ok(lead, `${name} says what it is for`);
    assert.ok(pages.has(`/docs/${name}`), name);
    const twin = await get(`/docs/${name}.md`);
    assert.equal(twin.status, 200);
    assert.match(twin.headers.get('content-type') ?? '', /^text\/markdown/);
    assert.match(await twin.text(), /^# /);
  }
});

test('no page has a broken link, anchors included', async () => {
  assert.ok(pages.size > 60, `${pages.size} pages`);
  const known = new Map<string, boolean>();
  const broken: string[] = [];
  for (const [path, html] of pages) {
    for (const link of linksOf(html)) {
      const [to = '', anchor] = link.split('#');
      // Skips links to the apps, which this test does not serve.
      if (/^https?:|^\/(icons\/tapline.svg)?$/.test(to)) continue;
      const target = pages.get(to === '' ? path : to);
      if (target === undefined && !known.has(to)) known.set(to, (await get(to)).status === 200);
      const isThere = target !== undefined || known.get(to) === true;
      const hasAnchor = anchor === undefined || target?.includes(` id="${anchor}"`) === true;
      if (!isThere || !hasAnchor) broken.push(`${path}: ${link}`);
    }
  }
  assert.deepEqual([...new Set(broken)], []);
});

test('every operation of every document is on a page, with curl and TypeScript', async () => {
  const documents = ['', '/device', '/payer', '/pay', '/dashboard', '/operator'];
  let count = 0;
  for (const name of documents) {
    const response = await get(name === '' ? '/openapi.json' : `/openapi${name}.json`);
    const document = (await response.json()) as {
      paths: Record<string, Record<string, { tags: string[]; summary: string }>>;
    };
    for (const [path, item] of Object.entries(document.paths)) {
      for (const [method, { tags }] of Object.entries(item)) {
        const slug = (tags[0] ?? '').toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
        const page = pages.get(`/docs/api${name}/${slug}`) ?? '';
        assert.ok(
          page.includes(`<code translate="no">${method.toUpperCase()} ${path}</code>`),
          `${method} ${path}`,
        );
        assert.ok(page.includes('aria-label="curl"') && page.includes('aria-label="TypeScript"'));
        count++;
      }
    }
  }
  assert.ok(count > 150, `${count} operations`);
});

test('examples of the merchant API use the package', async () => {
  const text = await (await get('/docs/api/payment-intents.md')).text();
  assert.match(text, /await tapline\.paymentIntents\.create\(\{\n {2}amount: 2500000,/);
  assert.match(text, /of tapline\.paymentIntents\.list\(/);
});

describe('errors', () => {
  test('each code has a section, and doc_url leads to it', async () => {
    const page = pages.get('/docs/errors') ?? '';
    for (const code of Object.keys(ERROR_CODES)) assert.ok(page.includes(`id="${code}"`), code);
    const { body } = await api.call({ path: '/v1/payments', key: null });
    const { doc_url: url } = body.error as unknown as { doc_url: string };
    assert.equal(url, `${api.url}/docs/errors#api_key_missing`);
  });

  test('each decline is in the guide with the texts of the service', async () => {
    const guide = await (await get('/docs/declines.md')).text();
    for (const [code, { message, customer }] of Object.entries(DECLINES)) {
      assert.ok(guide.includes(`| \`${code}\` | ${message} | ${customer} |`), code);
    }
  });
});

test('verification is shown in four languages, as the files that are tested', async () => {
  const page = pages.get('/docs/webhooks') ?? '';
  for (const language of ['TypeScript', 'Python', 'Go', 'PHP']) {
    assert.ok(page.includes(`aria-label="${language}"`), language);
  }
  for (const known of ['def verify_webhook', 'func VerifyWebhook', 'function verify_webhook']) {
    assert.ok(page.includes(known), known);
  }
});

test('the address of a page that moved leads to its new one', async () => {
  for (const [old, now] of [
    ['/docs/operating', '/docs/operate'],
    ['/docs/operating/', '/docs/operate'],
    ['/docs/operating.md', '/docs/operate.md'],
  ] as const) {
    const response = await fetch(api.url + old, { redirect: 'manual' });
    assert.deepEqual([response.status, response.headers.get('location')], [301, now], old);
    assert.equal((await get(now)).status, 200, now);
  }
});

test('nothing is loaded from another origin, and nothing is inline', async () => {
  const response = await get('/docs/webhooks');
  const policy = response.headers.get('content-security-policy') ?? '';
  assert.match(policy, /default-src 'none'/);
  assert.doesNotMatch(policy, /unsafe|sha256/);
  for (const [path, html] of pages) {
    assert.doesNotMatch(html, /<style|style="|<script(?![^>]*src=)| on\w+="/, path);
    assert.doesNotMatch(html, /src="https?:/, path);
  }
});

test('pages outside the reference load at most 12 kB, except two long ones', async () => {
  const sizes = new Map<string, number>();
  const sizeOf = async (path: string) => {
    const known = sizes.get(path);
    if (known !== undefined) return known;
    const size = gzipSync(await (await get(path)).bytes(), { level: 9 }).length;
    sizes.set(path, size);
    return size;
  };
  for (const [path, html] of pages) {
    if (path.startsWith('/docs/api/') || LONG_PAGES.has(path)) continue;
    const loaded = [
      ...html.matchAll(/<(?:link rel="(?:icon|stylesheet)" href|script src)="([^"]+)"/g),
    ];
    assert.equal(loaded.length, 3, path);
    let bytes = await sizeOf(path);
    for (const [, file = ''] of loaded) bytes += await sizeOf(file);
    assert.ok(bytes <= BUDGET_BYTES, `${path} loads ${bytes} bytes`);
  }
});

test('programs find all pages in llms.txt; an unchanged page is not sent again', async () => {
  const list = await (await get('/llms.txt')).text();
  for (const path of pages.keys()) {
    if (path !== '/docs') assert.ok(list.includes(`(${path}.md)`), path);
  }
  const whole = await (await get('/llms-full.txt')).text();
  for (const part of ['# Quickstart', '# Webhooks', 'POST /v1/payment_intents']) {
    assert.ok(whole.includes(part), part);
  }
  const first = await get('/docs');
  const again = await get('/docs', { 'if-none-match': first.headers.get('etag') ?? '' });
  assert.equal(again.status, 304);
  assert.equal((await get('/docs/nothing')).status, 404);
});

test('the screens in the guides are served, and no other file is', async () => {
  const images = [...pages.values()]
    .flatMap(linksOf)
    .filter((to) => to.startsWith('/docs/images/'));
  assert.ok(images.length >= 5, `${images.length} images`);
  for (const image of images) {
    const response = await get(image);
    assert.deepEqual([response.status, response.headers.get('content-type')], [200, 'image/png']);
  }
  for (const other of ['none.png', '..%2Fsettings.md', '%2e%2e%2fsettings.md']) {
    assert.equal((await get(`/docs/images/${other}`)).status, 404, other);
  }
});
