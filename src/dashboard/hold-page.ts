import { createHash } from 'node:crypto';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { cancelWalletChange } from '#accounts/change-wallet.ts';
import { describeOwnerChange, HOLD_PATH } from '#accounts/owner-changes.ts';
import type { HoldLinkRow } from '#accounts/payout-hold-queries.ts';
import { findHoldLink, holdPayouts } from '#accounts/payout-holds.ts';
import type { PeopleDeps } from '#accounts/people.ts';
import type { Clock } from '#core/clock.ts';
import { newId } from '#core/ids.ts';

const STYLE =
  'body{font:17px/1.5 system-ui,sans-serif;max-width:34rem;margin:3rem auto;padding:0 1rem}' +
  'button{font:inherit;padding:.6rem 1.2rem}';

const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64');

/** No script, nothing from elsewhere, and the form goes nowhere but back here. */
const HEADERS = {
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Security-Policy':
    `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; form-action 'self'; ` +
    "base-uri 'none'; frame-ancestors 'none'",
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'X-Robots-Tag': 'noindex, nofollow',
  'Cache-Control': 'no-store',
} as const;

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (found) => ENTITIES[found] ?? '');
}

function page(title: string, body: string): string {
  return (
    '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n' +
    '<meta name="viewport" content="width=device-width, initial-scale=1">\n' +
    `<title>${title}</title>\n<style>${STYLE}</style>\n</head>\n<body>\n` +
    `<main>\n<h1>${title}</h1>\n${body}\n</main>\n</body>\n</html>\n`
  );
}

function send(reply: FastifyReply, status: number, html: string): FastifyReply {
  return reply.code(status).headers(HEADERS).send(html);
}

function gone(reply: FastifyReply): FastifyReply {
  const body =
    '<p>A link works once, for 72 hours. If you still are an owner, the dashboard shows whether ' +
    'payouts are held.</p>';
  return send(reply, 404, page('This link is not valid', body));
}

function question(link: HoldLinkRow): string {
  const what = escapeHtml(describeOwnerChange(link.kind, link.subject));
  return page(
    'Hold payouts?',
    `<p>${what} <bdi>${escapeHtml(link.account_name)}</bdi>, ` +
      `${link.created.toISOString()}.</p>\n` +
      '<p>If this is not right, hold all payouts of the service. They stay held until an owner ' +
      'lifts the hold. What the settlement wallet withdraws by itself cannot be held.</p>\n' +
      '<form method="post"><button type="submit">Hold payouts</button></form>',
  );
}

const HELD = page(
  'Payouts are held',
  '<p>Nothing is paid out by the service until an owner with a second factor lifts the hold. ' +
    'All owners have been told by mail. An announced settlement wallet is being stopped.</p>',
);

/** An announced wallet can be put into force by anybody once it has waited: it is stopped, too. */
async function stopWallets(
  deps: Pick<PeopleDeps, 'db' | 'wakeups'>,
  of: { readonly accountId: string; readonly now: Date },
): Promise<void> {
  const actor = { type: 'system', name: 'link in a mail' } as const;
  for (const livemode of [false, true]) {
    const tenant = { accountId: of.accountId, livemode };
    // Refused where none is announced.
    await cancelWalletChange(deps, { tenant, actor, now: of.now });
  }
}

/**
 * The page behind the link that owners get by mail. Mail scanners open links: a GET only shows a
 * button, and the POST that it sends is what holds. Whoever has the link needs nothing else.
 */
export function addHoldPage(
  app: FastifyInstance,
  deps: { readonly people: PeopleDeps; readonly clock: Clock },
): void {
  const { people, clock } = deps;
  const path = `${HOLD_PATH}/:token`;
  app.get<{ Params: { token: string } }>(path, async (request, reply) => {
    const { token } = request.params;
    const link = await findHoldLink(people.db, { token, now: clock.now() });
    return link === undefined ? gone(reply) : send(reply, 200, question(link));
  });
  app.post<{ Params: { token: string } }>(path, async (request, reply) => {
    const { token } = request.params;
    const now = clock.now();
    const requestId = newId('request', now);
    const link = await holdPayouts(people, { token, address: request.ip, requestId, now });
    if (link === undefined) return gone(reply);
    await stopWallets(people, { accountId: link.account_id, now });
    return send(reply, 200, HELD);
  });
}
