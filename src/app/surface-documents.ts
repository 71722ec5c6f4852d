import { ROOTS } from '#apis/dashboard/authorize-person.ts';
import { NETWORKS_PATH } from '#apis/payer/network-routes.ts';
import { OPEN_PATHS } from '#apis/payer/sign-in-routes.ts';
import { KEY_ERRORS, merchantDocument } from '#app/merchant-document.ts';
import { API_VERSIONS } from '#core/api-versions.ts';
import { type DocumentedAccess, openApiDocument } from '#http/openapi.ts';
import type { Doc } from '#http/openapi-schemas.ts';
import type { DeclaredRoute } from '#http/route-errors.ts';

export interface SurfaceRoutes {
  readonly merchant: readonly DeclaredRoute[];
  /** Routes of terminals, including pairing. */
  readonly device: readonly DeclaredRoute[];
  readonly payer: readonly DeclaredRoute[];
  readonly pay: readonly DeclaredRoute[];
  readonly dashboard: readonly DeclaredRoute[];
  readonly operator: readonly DeclaredRoute[];
}

/** Returns the service's OpenAPI documents by the path that serves them, below the web root. */
export function surfaceDocuments(routes: SurfaceRoutes): Readonly<Record<string, Doc>> {
  return {
    'openapi.json': merchantDocument(routes.merchant),
    'openapi/device.json': surfaceDocument(DEVICE, routes.device),
    'openapi/payer.json': surfaceDocument(PAYER, routes.payer),
    'openapi/pay.json': surfaceDocument(PAY, routes.pay),
    'openapi/dashboard.json': surfaceDocument(DASHBOARD, routes.dashboard),
    'openapi/operator.json': surfaceDocument(OPERATOR, routes.operator),
  };
}

interface SurfaceText {
  readonly title: string;
  readonly summary: string;
  readonly description: string;
  /** Below `/api`. */
  readonly prefix: string;
  readonly access: DocumentedAccess;
}

const ERRORS =
  'Errors have the form of the merchant API: branch on `error.code`, and handle codes that ' +
  'you do not know by `error.type`.';

const DEVICE: SurfaceText = {
  title: 'Tapline terminal protocol',
  summary: 'The API of a terminal at the counter.',
  description:
    'A terminal is paired once with a code from the dashboard and then uses its device key ' +
    `(\`tldk_…\`). It waits for payment intents, shows them, and sends what was tapped. ${ERRORS}`,
  prefix: '/device/v1',
  access: {
    name: 'deviceKey',
    scheme: {
      type: 'http',
      scheme: 'bearer',
      description: 'The device key that pairing returned: `tldk_…`.',
    },
    isOpen: ({ path }) => path.startsWith('/pair'),
    needs: () => null,
    errors: KEY_ERRORS,
  },
};

const PAYER: SurfaceText = {
  title: 'Tapline payer API',
  summary: 'The API of a payer’s wallet.',
  description:
    'A payer signs in with the key of the wallet, approves spending with signatures that the ' +
    `service sends to the chain, and confirms payments that require it. ${ERRORS}`,
  prefix: '/payer/v1',
  access: {
    name: 'payerSession',
    scheme: {
      type: 'http',
      scheme: 'bearer',
      description: 'The session token that signing in returned.',
    },
    isOpen: ({ path }) => path === NETWORKS_PATH || OPEN_PATHS.includes(path),
    needs: () => null,
    errors: ['session_missing'],
  },
};

const PAY: SurfaceText = {
  title: 'Tapline pay links',
  summary: 'The API of a wallet that pays by the QR code of a terminal.',
  description:
    'A terminal shows the link of a payment (`payment_url`). A caller with the link can ' +
    'read the price, sign it with any wallet, and pay without gas. No credential is needed ' +
    `beside the token in the link. ${ERRORS}`,
  prefix: '/pay/v1',
  access: {
    name: 'payLink',
    scheme: {
      type: 'apiKey',
      in: 'query',
      name: 'token',
      description: 'The token in the path is the only credential.',
    },
    isOpen: () => true,
    needs: () => null,
    errors: [],
  },
};

const PEOPLE =
  '`POST /session` sets the session cookie. Each change also sends the `csrf_token` of ' +
  '`GET /session` as the header `Csrf-Token`. An edit names the `version` that it saw: a stale ' +
  `one is 409 \`version_conflict\` and saves nothing. ${ERRORS} Any route may also answer ` +
  '`session_missing` (401), `csrf_token_invalid`, `role_missing` and `second_factor_required` ' +
  '(403), and 404 `resource_missing` for an object of another account. Each route says who may ' +
  'call it: `half_signed_in`: after the password, even before the second factor; `signed_in`: ' +
  'every user.';

function peopleAccess(): DocumentedAccess {
  return {
    name: 'session',
    scheme: {
      type: 'apiKey',
      in: 'cookie',
      name: 'session',
      description: 'The session cookie. HttpOnly, SameSite=Strict.',
    },
    isOpen: ({ access }) => access === 'public',
    needs: ({ access }) => (access === 'public' ? null : `Needs: ${access}.`),
    errors: [],
  };
}

const DASHBOARD: SurfaceText = {
  title: 'Tapline dashboard API',
  summary: "What the merchant's people do in the dashboard.",
  description: `${PEOPLE} Roles: owner, admin, member, viewer. Each may do what later ones may.`,
  prefix: ROOTS.merchant.replace('/api', ''),
  access: peopleAccess(),
};

const OPERATOR: SurfaceText = {
  title: 'Tapline operator API',
  summary: "The API for the network's own staff.",
  description:
    `${PEOPLE} Every caller has verified a second factor. Support staff may only read: they may ` +
    'call what needs `support`, and operators everything.',
  prefix: ROOTS.operator.replace('/api', ''),
  access: peopleAccess(),
};

function surfaceDocument(surface: SurfaceText, routes: readonly DeclaredRoute[]): Doc {
  const { title, summary, description, prefix, access } = surface;
  const license = { name: 'Apache 2.0', identifier: 'Apache-2.0' };
  const tags = [...new Set(routes.map(({ tag }) => tag))];
  return openApiDocument({
    info: { title, version: API_VERSIONS.latest, summary, description, license },
    server: { url: '/api', description: 'The server that this document comes from.' },
    prefix,
    tags: tags.map((name) => ({ name, description: TAGS[name] ?? `${name}.` })),
    routes,
    webhooks: [],
    access,
  });
}

const TAGS: Readonly<Record<string, string>> = {
  Session: 'Signing in and out.',
  'Sign-up': 'Opening an account.',
  Password: 'Setting and resetting a password.',
  Me: 'The person who is signed in: name, second factor, passkeys, sessions.',
  Accounts: 'Accounts and their settings.',
  Team: 'People of an account, their roles and invitations.',
  Verification: 'The business verification (KYB).',
  'Go live': 'Registering on the settlement contract.',
  'Settlement wallet': 'Where withdrawals go.',
  Money: 'Balance, withdrawals and refunds.',
  Terminals: 'Terminals and their pairing.',
  'API keys': 'Keys of the merchant API.',
  Catalog: 'The items that tills sell at a tap.',
  Risk: 'Rules that decline payments or ask the payer.',
  Statistics: 'Figures by day.',
  Search: 'Finding an object by any of its identifiers.',
  Exports: 'Lists as files.',
  'Live feed': 'Events as they happen.',
  'Request log': 'Requests of the merchant API and their responses.',
  'Audit log': 'Who changed what.',
  Network: 'Relayers, queues, reconciliation and alarms.',
  'Spending policy defaults': 'The limits that payers are offered.',
  'Pay links': 'The cost of a payment, and paying it with a wallet’s signature.',
  'Payer app': 'The payer, passes, approvals, confirmations and agent tokens.',
  'Terminal protocol': 'Pairing, payment intents, taps and refunds at the counter.',
};
