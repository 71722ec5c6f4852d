import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { glob } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { declaredRoutes } from '#app/declared-routes.ts';
import { surfaceDocuments } from '#app/surface-documents.ts';

const ROOT = path.join(import.meta.dirname, '../..');
const DOCUMENTS = surfaceDocuments(declaredRoutes());

interface Desk {
  readonly realm: 'dashboard' | 'operator';
  /**
   * Minimum number of routes in the document. A lower count means that the document was not parsed.
   */
  readonly atLeast: number;
  /** Routes that no screen uses, with the reason for each. */
  readonly withoutScreen: Readonly<Record<string, string>>;
  /** Routes that are opened as links, and therefore appear in no call. */
  readonly asLinks: Readonly<Record<string, string>>;
}

const BY_PROGRAMS = 'the page has totals and the file of payments; programs read the rest';

const DESKS: readonly Desk[] = [
  {
    realm: 'dashboard',
    atLeast: 100,
    withoutScreen: {
      'GET /organizations/{org}': 'the list of organizations has each',
      'GET /organizations/{org}/{mode}/payments': BY_PROGRAMS,
      'GET /organizations/{org}/{mode}/refunds': BY_PROGRAMS,
      'GET /organizations/{org}/{mode}/reports/sales': BY_PROGRAMS,
      'GET /organizations/{org}/{mode}/exports/payment_intents': BY_PROGRAMS,
      'GET /organizations/{org}/{mode}/exports/refunds': BY_PROGRAMS,
      'GET /organizations/{org}/{mode}/exports/offline_payments': BY_PROGRAMS,
      'GET /organizations/{org}/{mode}/exports/withdrawals': BY_PROGRAMS,
      'GET /accounts': 'the session names the accounts',
      'GET /me': 'the session names the person',
      'GET /accounts/{account}/{mode}/test_helpers/clock': 'a server moves the test clock',
      'GET /exports/{token}': 'the mail and the event of a scheduled export have the link',
    },
    asLinks: {
      'GET /organizations/{org}/{mode}/exports/payments': '/exports/payments`',
      'GET /accounts/{account}/{mode}/exports/payments': '/exports/$',
      'GET /accounts/{account}/{mode}/exports/payment_intents': '/exports/$',
      'GET /accounts/{account}/{mode}/exports/refunds': '/exports/$',
      'GET /accounts/{account}/{mode}/exports/offline_payments': '/exports/$',
      'GET /accounts/{account}/{mode}/exports/withdrawals': '/exports/$',
      'GET /accounts/{account}/{mode}/exports/statement': '/exports/statement`',
      'GET /accounts/{account}/kyb/documents/{id}': '/kyb/documents/$',
      'GET /accounts/{account}/{mode}/catalogue.csv': '/catalogue.csv`',
      'GET /accounts/{account}/{mode}/feed': '/feed`',
    },
  },
  {
    realm: 'operator',
    atLeast: 40,
    withoutScreen: {
      'GET /me': 'the session names the person',
    },
    asLinks: { 'GET /accounts/{account}/kyb/documents/{id}': '/kyb/documents/$' },
  },
];

async function screens({ realm }: Desk): Promise<string> {
  const texts: string[] = [];
  for await (const name of glob(`web/{${realm},desk}/**/*.{ts,tsx}`, { cwd: ROOT })) {
    if (!name.includes('.test.')) texts.push(readFileSync(path.join(ROOT, name), 'utf8'));
  }
  return texts.join('\n');
}

function routes({ realm }: Desk): string[] {
  const document = DOCUMENTS[`openapi/${realm}.json`];
  const { paths } = document as { paths: Record<string, Record<string, unknown>> };
  return Object.entries(paths).flatMap(([name, methods]) =>
    Object.keys(methods).map(
      (method) => `${method.toUpperCase()} ${name.replace(`/${realm}/v1`, '')}`,
    ),
  );
}

for (const desk of DESKS) {
  test(`a screen reaches every route of the ${desk.realm}, or the list says why not`, async () => {
    const { atLeast, withoutScreen, asLinks } = desk;
    const [all, text] = [routes(desk), await screens(desk)];
    assert.ok(all.length >= atLeast, `only ${all.length} routes were seen`);
    const missing = all.filter((route) => {
      if (withoutScreen[route] !== undefined) return false;
      return !text.includes(asLinks[route] ?? `'${route}'`);
    });
    assert.deepEqual(missing, []);
    const known = new Set(all);
    const gone = [...Object.keys(withoutScreen), ...Object.keys(asLinks)];
    assert.deepEqual(
      gone.filter((route) => !known.has(route)),
      [],
      'these are no routes any more',
    );
  });
}
