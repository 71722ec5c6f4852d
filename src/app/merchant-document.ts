import { merchantWebhooks } from '#app/merchant-webhooks.ts';
import { API_VERSIONS } from '#core/api-versions.ts';
import { type DocumentedAccess, openApiDocument } from '#http/openapi.ts';
import type { Doc } from '#http/openapi-schemas.ts';
import type { DeclaredRoute } from '#http/route-errors.ts';

const INTRODUCTION =
  'A payment network for physical stores: the customer taps a wallet pass on a terminal, ' +
  'and the payment settles in USDC in about a second. The first tags describe what applies ' +
  'to every operation.';

interface Tag {
  readonly name: string;
  readonly description: string;
}

/** Topics that concern all operations, so no operation has them as a tag. */
const TOPICS: readonly Tag[] = [
  {
    name: 'Authentication',
    description:
      'Every request carries `Authorization: Bearer <API_KEY>`. The key chooses ' +
      'the mode: `tlsk_test_…` moves no real money, `tlsk_live_…` does.',
  },
  {
    name: 'Money',
    description: 'Amounts are integers in USDC atoms (6 decimals): 2500000 is 2.50 USDC.',
  },
  {
    name: 'Idempotency',
    description:
      'Send an `Idempotency-Key` with every POST, the same one when you retry. The ' +
      'first response is kept for 48 hours and replayed with `Idempotent-Replayed: true`. ' +
      'Validation refusals free the key. Never retry a movement of money with a new key before ' +
      'the first is known to have failed.',
  },
  {
    name: 'Errors',
    description:
      'Branch on `error.code`; handle codes you do not know by `error.type`. An unknown ' +
      'path is 404 `route_missing`, a method that a path does not take 405 `method_not_allowed`, ' +
      'and a request that is not well-formed HTTP 400, 408 or 431 `body_invalid` with the ' +
      'connection closed.',
  },
  {
    name: 'Lists',
    description:
      'Newest first. Send `next_cursor` back as `cursor`, with the same filters, until ' +
      '`has_more` is false. Pages have no duplicates and no gaps, whatever is created meanwhile.',
  },
  {
    name: 'Rate limits',
    description:
      'Each response shows the quota of the key (`RateLimit-*`). A 429 states ' +
      'in `Retry-After` how many seconds to wait.',
  },
  {
    name: 'Versions',
    description:
      "`Service-Version` chooses a dated version; without it the key's own is used. " +
      'Fields, values of a list, event types and error codes may be added at any time: ignore ' +
      'what you do not know.',
  },
];

const TAGS: readonly Tag[] = [
  { name: 'Payment intents', description: 'Amounts that a terminal collects from a customer.' },
  { name: 'Payments', description: 'Payments settled on the chain.' },
  { name: 'Refunds', description: 'Money sent back from the merchant balance.' },
  { name: 'Offline payments', description: 'Sales that tills accepted offline.' },
  { name: 'Terminals', description: 'The devices that customers tap.' },
  { name: 'Shifts', description: 'Reports of the shifts at terminals that have ended.' },
  {
    name: 'Balance',
    description: 'The balance that the settlement contract holds for the merchant.',
  },
  { name: 'Events', description: 'Everything that happened, for 30 days.' },
  { name: 'Webhook endpoints', description: 'The destinations of events.' },
  { name: 'Webhook deliveries', description: 'Attempts to deliver events, and their results.' },
  { name: 'Webhooks', description: 'The messages that endpoints receive.' },
  { name: 'Idempotency keys', description: 'The result of a request whose response was lost.' },
  { name: 'Request log', description: 'Requests of your servers, and their responses.' },
  { name: 'Test helpers', description: 'Simulate the customer in test mode. Test keys only.' },
];

/** The error codes of surfaces whose callers use a key. */
export const KEY_ERRORS = [
  'api_key_missing',
  'api_key_invalid',
  'api_key_expired',
  'api_key_revoked',
  'ip_not_allowed',
  'account_disabled',
] as const;

export const MERCHANT_ACCESS: DocumentedAccess = {
  name: 'apiKey',
  scheme: {
    type: 'http',
    scheme: 'bearer',
    description:
      'A secret key: `tlsk_test_…` for test mode, `tlsk_live_…` for live mode. The key chooses ' +
      'the mode and so the network.',
  },
  isOpen: () => false,
  needs: ({ scope }) => (scope === null ? null : `Needs a key with the scope \`${scope}\`.`),
  errors: KEY_ERRORS,
};

export function merchantDocument(routes: readonly DeclaredRoute[]): Doc {
  const used = new Set(['Webhooks', ...routes.map((route) => route.tag)]);
  return openApiDocument({
    info: {
      title: 'Tapline API',
      version: API_VERSIONS.latest,
      summary: 'Tap-to-pay payments in USDC for physical stores.',
      description: INTRODUCTION,
      license: { name: 'Apache 2.0', identifier: 'Apache-2.0' },
    },
    server: { url: '/api', description: 'The server that this document comes from.' },
    prefix: '/v1',
    tags: [...TOPICS, ...TAGS.filter((tag) => used.has(tag.name))],
    routes,
    webhooks: merchantWebhooks(),
    access: MERCHANT_ACCESS,
  });
}
