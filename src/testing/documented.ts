import { declaredRoutes } from '#app/declared-routes.ts';
import { surfaceDocuments } from '#app/surface-documents.ts';
import { createAnswerCheck, type Exchange } from '#testing/check-answer.ts';

type Check = (exchange: Exchange) => void;

/**
 * The OpenAPI document of each surface, by path prefix. Of several matching prefixes, the longest
 * wins.
 */
const SURFACES: Readonly<Record<string, string>> = {
  '/api/v1/': 'openapi.json',
  '/api/device/v1/': 'openapi/device.json',
  '/api/payer/v1/': 'openapi/payer.json',
  '/api/pay/v1/': 'openapi/pay.json',
  '/api/dashboard/v1/': 'openapi/dashboard.json',
  '/api/operator/v1/': 'openapi/operator.json',
};

const checks = new Map<string, Check>();
let documents: ReturnType<typeof surfaceDocuments> | undefined;

function checkOf(name: string): Check {
  const known = checks.get(name);
  if (known !== undefined) return known;
  documents ??= surfaceDocuments(declaredRoutes());
  const check = createAnswerCheck(documents[name] ?? {});
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
    readonly headers: Headers;
  },
): void {
  const { pathname, search } = new URL(exchange.url);
  const name = Object.keys(SURFACES).find((root) => pathname.startsWith(root));
  if (name === undefined) return;
  checkOf(SURFACES[name] ?? '')({
    ...exchange,
    path: pathname + search,
    headers: Object.fromEntries(exchange.headers),
  });
}
