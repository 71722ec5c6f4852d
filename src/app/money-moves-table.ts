import { consentOf } from '#apis/dashboard/require-second-factor.ts';
import type { SurfaceRoutes } from '#app/surface-documents.ts';
import type { DeclaredRoute } from '#http/route-errors.ts';
import { type Asks, asksOf } from '#http/second-factor-by-effect.ts';

const BEGIN = '<!-- What routes move: npm run openapi -->\n';
const END = '<!-- End of what routes move -->';

/** The proof that a caller without a second factor must give, per API. */
const PROOF: Readonly<Record<Exclude<keyof SurfaceRoutes, 'dashboard' | 'operator'>, string>> = {
  merchant: 'API key with its scope',
  device: 'device key',
  payer: 'session of the wallet',
  pay: 'signature of the wallet',
};

const ASKED: Readonly<Record<Asks, string>> = {
  always: 'fresh factor',
  live: 'fresh factor in live mode',
  fresh: 'fresh factor, which may be new',
  own: 'fresh factor, depending on the request',
  never: 'session',
};

/** In the payer's API, a signature of the wallet is the second factor. */
const SIGNED: Readonly<Record<Asks, string>> = {
  always: 'signature of the wallet, at most five minutes old',
  own:
    'signature of the wallet, at most five minutes old, if the request raises a limit, adds a ' +
    'way to pay or erases data; otherwise the session',
  live: PROOF.payer,
  fresh: PROOF.payer,
  never: PROOF.payer,
};

/**
 * Routes, in all APIs, that start a session, need none, or take a proof in their body, with the
 * proof that each requires.
 */
const OWN_PROOF: Readonly<Record<string, string>> = {
  'POST /pair': 'pairing code',
  'POST /shift': 'device key, and the PIN of a cashier',
  'POST /sign_in/nonce': 'none',
  'POST /sign_in': 'signature of the wallet',
  'POST /sign_in/again': 'session and a new signature of the wallet',
  'POST /chips': 'session of the wallet, and a signature of the chip',
  'POST /transfers': 'session of the wallet, and its signature of the transfer',
  'POST /approvals': 'session of the wallet, and its signatures of permit and policy',
  'POST /session': 'password',
  'POST /session/second_factor': 'session, and a code',
  'POST /session/second_factor/passkey': 'session, and a passkey',
  'POST /session/passkey_options': 'none',
  'POST /session/passkey': 'passkey',
  'POST /password_reset': 'none: the address gets a link',
  'POST /password_reset/complete': 'link from the email',
  'POST /sign_up': 'none: the address gets a link',
  'POST /sign_up/complete': 'link from the email',
  'POST /invitations/accept': 'link from the email; for existing users, also a session',
};

function proofOf(api: keyof SurfaceRoutes, route: DeclaredRoute): string {
  const name = `${route.method} ${route.path}`;
  const own = OWN_PROOF[name];
  if (own !== undefined) return own;
  if (route.access === 'public') throw new Error(`${name} is public, but its proof is not listed`);
  if (api === 'payer') return SIGNED[asksOf(route)];
  if (api !== 'dashboard' && api !== 'operator') return PROOF[api];
  const { asks, mails, fourEyes } = consentOf(route);
  const more = [...(mails ? ['email to the owners'] : []), ...(fourEyes ? ['a colleague'] : [])];
  return [ASKED[asks], ...more].join(', ');
}

/**
 * Renders a table of all routes that move money, access or a name, with the proof that the caller
 * must give.
 */
function table(routes: SurfaceRoutes): string {
  const lines = Object.entries(routes).flatMap(([name, own]) => {
    const api = name as keyof SurfaceRoutes;
    const moving = (own as readonly DeclaredRoute[]).filter(
      ({ moves }) => moves !== 'data' && moves !== 'nothing',
    );
    return moving.map((route) => {
      const { method, path, moves, access = '' } = route;
      const cells = [api, `\`${method} ${path}\``, moves, access, proofOf(api, route)];
      return `| ${cells.join(' | ')} |`;
    });
  });
  return [
    '| API | route | moves | least role | required proof |',
    '|---|---|---|---|---|',
    ...lines,
    '',
  ].join('\n');
}

/** Returns docs/moves.md with the table of the currently declared routes. */
export function withMovesTable(text: string, routes: SurfaceRoutes): string {
  const [before, rest] = text.split(BEGIN);
  const [, after] = rest?.split(END) ?? [];
  if (after === undefined) throw new Error('docs/moves.md lacks the markers of its table');
  return `${before}${BEGIN}${table(routes)}${END}${after}`;
}
