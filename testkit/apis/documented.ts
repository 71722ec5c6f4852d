import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { areSourcesUnchanged } from '#app/openapi-sources.ts';
import { createAnswerCheck, type Exchange } from '#testkit/apis/check-answer.ts';

type Check = (exchange: Exchange) => void;

const ROOT = path.join(import.meta.dirname, '../..');
/**
 * The OpenAPI document of each surface, without `.json`, by path prefix. Of several matching
 * prefixes, the longest wins. Written without the extension, because `npm test -- --changed` would
 * otherwise run every test with a client whenever a route changes one of these files.
 */
const SURFACES: Readonly<Record<string, string>> = {
  '/api/v1/': 'openapi',
  '/api/device/v1/': 'openapi/device',
  '/api/payer/v1/': 'openapi/payer',
  '/api/pay/v1/': 'openapi/pay',
  '/api/dashboard/v1/': 'openapi/dashboard',
  '/api/operator/v1/': 'openapi/operator',
};

const checks = new Map<string, Check>();

/**
 * If a source has changed, another process compares the documents with the routes, so that this one
 * need not import them.
 *
 * @throws if a document is missing or older than the routes
 */
function requireFreshDocuments(): void {
  const names = Object.values(SURFACES).map((name) => `${name}.json`);
  const missing = names.filter((name) => !existsSync(path.join(ROOT, name)));
  if (missing.length > 0) throw new Error(`${missing.join()} is missing: run npm run openapi`);
  // Throws with the names that the command prints.
  if (!areSourcesUnchanged()) {
    execFileSync('npm', ['run', '--silent', 'openapi', '--', '--fresh'], { cwd: ROOT });
  }
}

// Once, before the first test: in each test, stale documents would start the process again.
requireFreshDocuments();

function checkOf(name: string): Check {
  const known = checks.get(name);
  if (known !== undefined) return known;
  const check = createAnswerCheck(
    JSON.parse(readFileSync(path.join(ROOT, `${name}.json`), 'utf8')),
  );
  checks.set(name, check);
  return check;
}

/**
 * Checks every response of a test client against the OpenAPI document of its surface.
 * @throws if they differ
 */
export function checkDocumented(
  exchange: Omit<Exchange, 'path' | 'headers'> & {
    readonly url: string;
    readonly headers: Headers | Readonly<Record<string, string>>;
  },
): void {
  const { pathname, search } = new URL(exchange.url);
  const name = Object.keys(SURFACES).find((root) => pathname.startsWith(root));
  if (name === undefined) return;
  checkOf(SURFACES[name] ?? '')({
    ...exchange,
    path: pathname + search,
    headers:
      exchange.headers instanceof Headers ? Object.fromEntries(exchange.headers) : exchange.headers,
  });
}
