import type { FastifyInstance, FastifyReply } from 'fastify';
import { addHoldPage } from '#apis/dashboard/payouts/hold-payouts-page.ts';
import type { Clock } from '#core/clock.ts';
import { escapeHtml } from '#core/escape-html.ts';
import { newId } from '#core/ids.ts';
import { limitByAddress, PAGES } from '#http/address-rate-limit.ts';
import { plainPage, sendPage } from '#http/plain-page.ts';
import { confirmPersonLink } from '#payouts/confirm-person-link.ts';
import type { PeopleDeps } from '#people/people-context.ts';
import type { PersonLinkKind, PersonLinkRow } from '#people/person-link-queries.ts';
import { findPersonLink, PERSON_LINK_BUTTONS, PERSON_LINK_PATH } from '#people/person-links.ts';

interface Words {
  readonly title: string;
  readonly asks: string;
  readonly done: string;
  readonly doneText: string;
}

const WORDS: Record<PersonLinkKind, Words> = {
  not_me: {
    title: 'Wasn’t this you?',
    asks:
      'The button puts all payouts on hold and signs out the person who did this. If it was ' +
      'about your own sign-in, your password stops working too: choose a new one by email.',
    done: 'Payouts are on hold',
    doneText:
      'Sessions have ended, and payouts are on hold until an owner with a second factor releases ' +
      'them. If it was about your own sign-in, choose a new password by email now.',
  },
  trust_factor: {
    title: 'Is this your second factor?',
    asks: 'The button makes it valid immediately for payouts and access changes.',
    done: 'Your second factor is valid now',
    doneText: 'You need it before money moves or access changes.',
  },
  recover_factor: {
    title: 'Have you lost your second factor?',
    asks:
      'The button removes it after 72 hours, unless it is used before then. You can then sign in ' +
      'with your password and set up another one.',
    done: 'It will be removed in 72 hours',
    doneText: 'We sent you another email, with a link that cancels this.',
  },
  report_email: {
    title: 'Send shift reports to this address?',
    asks: 'The button sends the report of each shift here from now on.',
    done: 'Shift reports are sent to this address',
    doneText: 'An admin of the account can change the address in the dashboard’s settings.',
  },
};

function gone(reply: FastifyReply): FastifyReply {
  const body = '<p>Each link works once, within 72 hours.</p>';
  return sendPage(reply, 404, plainPage('This link is not valid', body));
}

function question({ kind, what, created }: PersonLinkRow): string {
  const { title, asks } = WORDS[kind];
  const button = PERSON_LINK_BUTTONS[kind];
  return plainPage(
    title,
    `<p>${escapeHtml(what)} ${created.toISOString()}.</p>\n<p>${asks}</p>\n` +
      `<form method="post"><button type="submit">${button}</button></form>`,
  );
}

/** Adds the pages behind mailed links. They need no sign-in. */
export function addMailPages(app: FastifyInstance, people: PeopleDeps, clock: Clock): void {
  addHoldPage(app, people, clock);
  addPersonLinkPage(app, people, clock);
}

/**
 * Adds the page behind the links that people get by mail. Mail scanners open links, so GET only
 * shows a button, and the button's POST acts. No sign-in is needed.
 */
function addPersonLinkPage(app: FastifyInstance, people: PeopleDeps, clock: Clock): void {
  const path = `${PERSON_LINK_PATH}/:token`;
  const onRequest = limitByAddress(PAGES);
  app.get<{ Params: { token: string } }>(path, { onRequest }, async (request, reply) => {
    const { token } = request.params;
    const link = await findPersonLink(people.db, { token, now: clock.now() });
    return link === undefined ? gone(reply) : sendPage(reply, 200, question(link));
  });
  app.post<{ Params: { token: string } }>(path, { onRequest }, async (request, reply) => {
    const { token } = request.params;
    const now = clock.now();
    const confirmation = { token, address: request.ip, requestId: newId('request', now), now };
    const link = await confirmPersonLink(people, confirmation);
    if (link === undefined) return gone(reply);
    const { done, doneText } = WORDS[link.kind];
    return sendPage(reply, 200, plainPage(done, `<p>${doneText}</p>`));
  });
}
