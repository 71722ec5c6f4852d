import { consentOf } from '#apis/dashboard/sessions/require-second-factor.ts';
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
  always: 'fresh signature',
  own: 'fresh signature, to extend',
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
 * Renders, for each API, a table of all routes that move money, access or a name, with the proof
 * that the caller must give. Only routes of users name their lowest role.
 */
function tables(routes: SurfaceRoutes): string {
  const sections = Object.entries(routes).map(([name, own]) => {
    const api = name as keyof SurfaceRoutes;
    const hasRoles = api === 'dashboard' || api === 'operator';
    const moving = (own as readonly DeclaredRoute[]).filter(
      ({ moves }) => moves !== 'data' && moves !== 'nothing',
    );
    const lines = moving.map((route) => {
      const { method, path, moves, access = '' } = route;
      const role = hasRoles ? [access] : [];
      const cells = [`\`${method} ${path}\``, moves, ...role, proofOf(api, route)];
      return `| ${cells.join(' | ')} |\n`;
    });
    const head = ['route', 'moves', ...(hasRoles ? ['least role'] : []), 'required proof'];
    const rule = `|${'---|'.repeat(head.length)}`;
    return `\n## ${api}\n\n| ${head.join(' | ')} |\n${rule}\n${lines.join('')}`;
  });
  return `${sections.join('')}\n`;
}

/** Returns docs/moves.md with the tables of the currently declared routes. */
export function withMovesTable(text: string, routes: SurfaceRoutes): string {
  const [before, rest] = text.split(BEGIN);
  const [, after] = rest?.split(END) ?? [];
  if (after === undefined) throw new Error('docs/moves.md lacks the markers of its table');
  return `${before}${BEGIN}${tables(routes)}${END}${after}`;
}
