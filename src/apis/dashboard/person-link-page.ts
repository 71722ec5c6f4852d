import type { FastifyInstance, FastifyReply } from 'fastify';
import { addHoldPage } from '#apis/dashboard/hold-page.ts';
import type { Clock } from '#core/clock.ts';
import { escapeHtml } from '#core/escape-html.ts';
import { newId } from '#core/ids.ts';
import { limitByAddress, PAGES } from '#http/page-limit.ts';
import { plainPage, sendPage } from '#http/plain-page.ts';
import { pressPersonLink } from '#payouts/press-person-link.ts';
import type { PeopleDeps } from '#people/people.ts';
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
    title: 'Was this not you?',
    asks:
      'The button holds the payouts of the service and signs the person out who did this. If it ' +
      'was about your own sign-in, your password ends too: choose a new one by mail.',
    done: 'It is stopped',
    doneText:
      'Sessions have ended, and payouts are held until an owner with a second factor lifts the ' +
      'hold. If it was about your own sign-in, choose a new password by mail now.',
  },
  trust_factor: {
    title: 'Is this your second factor?',
    asks: 'The button makes it count at once for money and access.',
    done: 'Your factor counts now',
    doneText: 'It is asked for before money moves or access changes.',
  },
  recover_factor: {
    title: 'Have you lost your second factor?',
    asks:
      'The button ends it after 72 hours. If it is used before, it stays. You can then sign in ' +
      'with your password and set up another one.',
    done: 'It ends in 72 hours',
    doneText: 'We have sent you another mail, with which this can be stopped.',
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

/** All pages behind links in mails that need no sign-in. */
export function addMailPages(app: FastifyInstance, deps: PageDeps): void {
  addHoldPage(app, deps);
  addPersonLinkPage(app, deps);
}

interface PageDeps {
  readonly people: PeopleDeps;
  readonly clock: Clock;
}

/**
 * The page behind the links that people get by mail. Mail scanners open links: a GET only shows a
 * button, and the POST that it sends is what acts. The link is all that one needs.
 */
function addPersonLinkPage(app: FastifyInstance, deps: PageDeps): void {
  const { people, clock } = deps;
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
    const press = { token, address: request.ip, requestId: newId('request', now), now };
    const link = await pressPersonLink(people, press);
    if (link === undefined) return gone(reply);
    const { done, doneText } = WORDS[link.kind];
    return sendPage(reply, 200, plainPage(done, `<p>${doneText}</p>`));
  });
}
