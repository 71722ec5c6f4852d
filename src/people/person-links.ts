import { hashSecret, isSecret, newSecret } from '#core/bearer-secrets.ts';
import { addMs } from '#core/clock.ts';
import { HOUR_MS } from '#core/durations.ts';
import type { Sql, Tx } from '#db/database.ts';
import { accountInMail } from '#people/account-name-in-mail.ts';
import { emailBucket, MAILS_PER_MAILBOX, takeAttempt } from '#people/attempt-limits.ts';
import type { MailButton } from '#people/mail-html.ts';
import { queueMail } from '#people/mail-outbox.ts';
import type { Mailing } from '#people/people-context.ts';
import {
  type PersonLinkKind,
  type PersonLinkRow,
  personLinks,
  selectPersonLink,
} from '#people/person-link-queries.ts';

/** Equal to the delay of a new factor: enough for a person who reads no mail during a weekend. */
const LINK_MS = 72 * HOUR_MS;

/** The path of the page that a person link opens. The link alone authorizes its action. */
export const PERSON_LINK_PATH = '/by-mail';

/** Labels of the buttons in the mail and on the page that the link opens. */
export const PERSON_LINK_BUTTONS: Readonly<Record<PersonLinkKind, string>> = {
  not_me: 'This was not me',
  trust_factor: 'This is my factor',
  recover_factor: 'I have lost it',
  report_email: 'Send the reports here',
};

async function issueLink(
  tx: Tx,
  people: Mailing,
  link: Omit<PersonLinkRow, 'created'> & { readonly now: Date },
): Promise<string> {
  const token = newSecret('holdLink');
  const { kind, user_id, account_id, email, what, now } = link;
  await personLinks.insert(tx, {
    ...{ hash: hashSecret(token), kind, user_id, account_id, email, what },
    ...{ created: now, expires_at: addMs(now, LINK_MS) },
  });
  return `${people.webUrl}${PERSON_LINK_PATH}/${token}`;
}

/**
 * Returns the link if it is neither used nor expired. Otherwise returns undefined without a reason,
 * so that the caller cannot tell used links from unknown ones.
 */
export async function findPersonLink(
  sql: Sql,
  input: { readonly token: string; readonly now: Date },
): Promise<PersonLinkRow | undefined> {
  if (!isSecret('holdLink', input.token)) return undefined;
  return selectPersonLink(sql, { hash: hashSecret(input.token), now: input.now });
}

/** A change that a thief could have made, and the user whose session made it. */
export interface AlarmingChange {
  /** The user of that session. */
  readonly userId: string;
  /** `null` if the change concerns the person rather than one account. */
  readonly accountId: string | null;
  /** A sentence that describes the change: `A live API key was made for …`. */
  readonly what: string;
  readonly subject: string;
  readonly to: readonly string[];
  /** A second link in the mail, which confirms the change. */
  readonly yes?: { readonly kind: PersonLinkKind; readonly words: string };
  readonly now: Date;
}

/** The last paragraphs of a mail about a change: the link that stops it, and its button. */
interface Stop {
  readonly text: string;
  readonly button: MailButton;
}

/** Issues the recipient's link that stops a change, and returns the words that introduce it. */
export async function stopLink(
  tx: Tx,
  people: Mailing,
  link: Omit<PersonLinkRow, 'created' | 'kind'> & { readonly now: Date },
): Promise<Stop> {
  const url = await issueLink(tx, people, { ...link, kind: 'not_me' });
  const text =
    `If this was not you, open this link and click the button:\n\n${url}\n\n` +
    'It puts all payouts on hold and signs out the person who did this. The link works once, ' +
    'for 72 hours. Opening it changes nothing.\n';
  return { text, button: { url, name: PERSON_LINK_BUTTONS.not_me } };
}

/** Mails each recipient a personal link that stops the change. */
export async function mailChange(tx: Tx, people: Mailing, change: AlarmingChange): Promise<void> {
  const { userId: user_id, accountId: account_id, what, subject, now } = change;
  for (const to of new Set(change.to)) {
    const link = { user_id, account_id, email: to, what, now };
    const stop = await stopLink(tx, people, link);
    const buttons = [stop.button];
    let agree = '';
    if (change.yes !== undefined) {
      const { kind, words } = change.yes;
      const url = await issueLink(tx, people, { ...link, kind });
      agree = `${words}\n\n${url}\n\n`;
      buttons.unshift({ url, name: PERSON_LINK_BUTTONS[kind] });
    }
    const text = `${what}\n\n${agree}${stop.text}`;
    await queueMail(tx, people.secretKey, { to, subject, text, buttons, now });
  }
}

/** Mails the address that is to get the reports of shifts a link that confirms it. */
export async function askReportEmail(
  tx: Tx,
  people: Mailing,
  asked: {
    readonly userId: string;
    readonly accountId: string;
    readonly accountName: string;
    readonly email: string;
    readonly now: Date;
  },
): Promise<void> {
  const { userId: user_id, accountId: account_id, email, now } = asked;
  const bucket = emailBucket('mail', 'merchant', email);
  // Beyond the mailbox's limit nothing is sent, so that nobody can flood it.
  if ((await takeAttempt(tx, bucket, { allowance: MAILS_PER_MAILBOX, now })) !== null) return;
  const account = accountInMail(asked.accountName);
  const what = `This address was entered for the shift reports of ${account}.`;
  const link = { kind: 'report_email', user_id, account_id, email, what, now } as const;
  const url = await issueLink(tx, people, link);
  await queueMail(tx, people.secretKey, {
    to: email,
    subject: 'Confirm this address for shift reports',
    text:
      `${what} Open this link and click the button to get them here:\n\n${url}\n\n` +
      'The link works once, for 72 hours. If you do not want the reports, ignore this email.\n',
    buttons: [{ url, name: PERSON_LINK_BUTTONS.report_email }],
    now,
  });
}
