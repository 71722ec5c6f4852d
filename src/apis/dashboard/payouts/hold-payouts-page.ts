import type { FastifyInstance, FastifyReply } from 'fastify';
import type { Clock } from '#core/clock.ts';
import { escapeHtml } from '#core/escape-html.ts';
import { newId } from '#core/ids.ts';
import { networkOf } from '#core/mode.ts';
import { limitByAddress, PAGES } from '#http/address-rate-limit.ts';
import { plainPage, sendPage } from '#http/plain-page.ts';
import { holdPayouts } from '#payouts/confirm-hold-link.ts';
import type { HoldLinkRow, WalletLinkRow } from '#payouts/payout-hold-queries.ts';
import { findHoldLink } from '#payouts/payout-holds.ts';
import { describeOwnerChange, HOLD_PATH } from '#people/hold-after-owner-change.ts';
import type { PeopleDeps } from '#people/people-context.ts';

function gone(reply: FastifyReply): FastifyReply {
  const body =
    '<p>Each link works once, within 72 hours. If you are still an owner, the dashboard shows ' +
    'whether payouts are held.</p>';
  return sendPage(reply, 404, plainPage('This link is not valid', body));
}

const CANNOT_HOLD = 'Withdrawals made directly by the settlement wallet cannot be held.';

function walletQuestion(link: WalletLinkRow): string {
  const account = `<bdi>${escapeHtml(link.account_name)}</bdi>`;
  return plainPage(
    'Stop this wallet?',
    `<p>Payouts of ${account} on ${networkOf(link.livemode)} are to go to ` +
      `<code translate="no">${escapeHtml(link.wallet)}</code>.</p>\n` +
      '<p>If this is not right, stop it: the contract drops the new wallet, and the service ' +
      `holds all payouts until an owner lifts the hold. ${CANNOT_HOLD}</p>\n` +
      '<form method="post"><button type="submit">Stop it</button></form>',
  );
}

function question(link: HoldLinkRow): string {
  if (link.change_id === null) return walletQuestion(link);
  const what = escapeHtml(describeOwnerChange(link.kind, link.subject));
  return plainPage(
    'Hold payouts?',
    `<p>${what} <bdi>${escapeHtml(link.account_name)}</bdi>, ` +
      `${link.created.toISOString()}.</p>\n` +
      '<p>If this is not right, put all payouts on hold. They stay on hold until an owner ' +
      `releases them. ${CANNOT_HOLD}</p>\n` +
      '<form method="post"><button type="submit">Hold payouts</button></form>',
  );
}

const HELD = plainPage(
  'Payouts are held',
  '<p>The service pays nothing out until an owner with a second factor releases the hold. All ' +
    'owners were notified by email. If a change of the settlement wallet was ' +
    'announced, it is being canceled.</p>',
);

/**
 * Adds the page behind the link that owners get by mail. Mail scanners open links, so GET only
 * shows a button, and the button's POST puts payouts on hold. No sign-in is needed.
 */
export function addHoldPage(app: FastifyInstance, people: PeopleDeps, clock: Clock): void {
  const path = `${HOLD_PATH}/:token`;
  const onRequest = limitByAddress(PAGES);
  app.get<{ Params: { token: string } }>(path, { onRequest }, async (request, reply) => {
    const { token } = request.params;
    const link = await findHoldLink(people.db, { token, now: clock.now() });
    return link === undefined ? gone(reply) : sendPage(reply, 200, question(link));
  });
  app.post<{ Params: { token: string } }>(path, { onRequest }, async (request, reply) => {
    const { token } = request.params;
    const now = clock.now();
    const requestId = newId('request', now);
    const link = await holdPayouts(people, { token, address: request.ip, requestId, now });
    if (link === undefined) return gone(reply);
    return sendPage(reply, 200, HELD);
  });
}
