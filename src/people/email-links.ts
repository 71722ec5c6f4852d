import { isRefusal, type Refusal, refuse } from '#core/answer.ts';
import { hashSecret, isSecret, newSecret } from '#core/bearer-secrets.ts';
import { addMs } from '#core/clock.ts';
import { DAY_MS } from '#core/durations.ts';
import { readEmail } from '#core/name-rules.ts';
import type { Sql, Tx } from '#db/database.ts';
import {
  addressBucket,
  emailBucket,
  giveBackAttempt,
  LINKS_PER_ADDRESS,
  MAILS_PER_ADDRESS,
  MAILS_PER_MAILBOX,
  takeAttempt,
} from '#people/attempt-limits.ts';
import { emailTokens, selectEmailToken, type TokenPurpose } from '#people/email-token-queries.ts';
import { queueMail } from '#people/mail-outbox.ts';
import type { PeopleDeps, Visit } from '#people/people-context.ts';
import { type Realm, selectUserByEmail, type UserRow } from '#people/user-queries.ts';

/**
 * Lifetimes of links: long enough for a slow mailbox, but short, because a link grants access to an
 * account.
 */
const LINK_MS: Record<TokenPurpose, number> = {
  sign_up: DAY_MS,
  password_reset: 30 * 60_000,
};

export interface LinkRequest {
  readonly realm: Realm;
  readonly email: string;
  readonly visit: Visit;
}

/** Returns the refusal of an invalid link. It is the same for unknown, used and expired links. */
export function linkRefused(): Refusal {
  return refuse(
    'parameter_invalid',
    'This link is no longer valid. It works once, for a limited time. Request a new one.',
    'token',
  );
}

/** Creates a token for the address; only its hash is stored. */
async function issueToken(
  tx: Tx,
  made: { readonly purpose: TokenPurpose; readonly realm: Realm; readonly email: string },
  now: Date,
): Promise<string> {
  const token = newSecret('mailLink');
  const expiresAt = addMs(now, LINK_MS[made.purpose]);
  const { purpose, realm, email } = made;
  await emailTokens.insertAll(tx, [
    { hash: hashSecret(token), purpose, realm, email, created: now, expires_at: expiresAt },
  ]);
  return token;
}

interface LinkMail {
  readonly purpose: TokenPurpose | null;
  readonly subject: string;
  /**
   * Returns the mail's text with this URL. The token is in the URL's fragment (#), which browsers
   * do not send to servers.
   */
  readonly text: (url: string) => string;
  readonly button: string;
}

function signUpMail(user: UserRow | undefined): LinkMail {
  if (user !== undefined) {
    return {
      purpose: null,
      subject: 'You already have a Tapline account',
      button: 'Sign in',
      text: (url) =>
        'Someone, probably you, asked to open an account with this address, which already has ' +
        `one. Sign in at\n\n${url}\n\nIf it was not you, you don’t need to do anything.\n`,
    };
  }
  return {
    purpose: 'sign_up',
    subject: 'Confirm your address for Tapline',
    button: 'Open your account',
    text: (url) =>
      `Open this link to choose a password and open your account:\n\n${url}\n\n` +
      'It is valid for 24 hours and works once. If you did not ask for it, ignore this email: ' +
      'no account exists until the link is opened.\n',
  };
}

function resetMail(user: UserRow | undefined): LinkMail | null {
  if (user === undefined || user.status !== 'active') return null;
  return {
    purpose: 'password_reset',
    subject: 'Choose a new Tapline password',
    button: 'Choose a new password',
    text: (url) =>
      `Open this link to choose a new password:\n\n${url}\n\n` +
      'It is valid for 30 minutes and works once. Your second factor stays as it is. If you did ' +
      'not ask for it, ignore this email; your password has not changed.\n',
  };
}

function pageOf(realm: Realm, purpose: TokenPurpose | null): string {
  const app = realm === 'operator' ? '/operator' : '/dashboard';
  if (purpose === null) return `${app}/sign-in`;
  return `${app}/${purpose === 'sign_up' ? 'sign-up' : 'reset-password'}`;
}

/**
 * Mails the address a link, or the reason why there is none, or nothing. The requester cannot
 * distinguish these cases: each gets the same response after the same time. Mails beyond the
 * mailbox's limit are not sent; earlier links stay valid. @returns the mailed link, or `null`. Only
 * a sandbox may show it.
 */
async function sendLink(
  deps: PeopleDeps,
  request: LinkRequest,
  mailFor: (user: UserRow | undefined) => LinkMail | null,
): Promise<string | null | Refusal> {
  const { realm, visit } = request;
  const email = readEmail(request.email);
  if (isRefusal(email)) return email;
  const { now } = visit;
  const byAddress = { allowance: MAILS_PER_ADDRESS, now };
  const tooMany = await takeAttempt(deps.db, addressBucket('mail', visit.address), byAddress);
  if (tooMany !== null) return tooMany;
  const byMailbox = { allowance: MAILS_PER_MAILBOX, now };
  const isFlooded = await takeAttempt(deps.db, emailBucket('mail', realm, email), byMailbox);
  return deps.db.transaction(async (tx) => {
    const mail = mailFor(await selectUserByEmail(tx, { realm, email }));
    if (mail === null || isFlooded !== null) return null;
    const { purpose } = mail;
    const fragment =
      purpose === null ? '' : `#token=${await issueToken(tx, { purpose, realm, email }, now)}`;
    const url = `${deps.webUrl}${pageOf(realm, purpose)}${fragment}`;
    const { subject, button } = mail;
    const content = { to: email, subject, text: mail.text(url), buttons: [{ url, name: button }] };
    await queueMail(tx, deps.secretKey, { ...content, now });
    return url;
  });
}

/** Starts a sign-up by mailing a link that verifies the address. Stores nothing but the link. */
export function requestSignUp(
  deps: PeopleDeps,
  request: LinkRequest,
): Promise<string | null | Refusal> {
  return sendLink(deps, request, signUpMail);
}

export async function requestPasswordReset(
  deps: PeopleDeps,
  request: LinkRequest,
): Promise<null | Refusal> {
  const sent = await sendLink(deps, request, resetMail);
  return isRefusal(sent) ? sent : null;
}

/**
 * Looks up what a mailed link refers to, before any slow work is done for the caller. A failed
 * look-up counts against the IP address.
 */
export async function findByLink<T>(
  sql: Sql,
  input: { readonly visit: Pick<Visit, 'address' | 'now'>; readonly isLink: boolean },
  look: () => Promise<T | undefined>,
): Promise<T | Refusal> {
  const { address, now } = input.visit;
  const bucket = addressBucket('link', address);
  const tooMany = await takeAttempt(sql, bucket, { allowance: LINKS_PER_ADDRESS, now });
  if (tooMany !== null) return tooMany;
  const row = input.isLink ? await look() : undefined;
  if (row === undefined) return linkRefused();
  await giveBackAttempt(sql, bucket);
  return row;
}

/** The token of a mailed link, and the purpose that it must have. */
export interface ShownLink {
  readonly text: string;
  readonly purpose: TokenPurpose;
  readonly realm: Realm;
  readonly visit: Pick<Visit, 'address' | 'now'>;
}

/**
 * Returns the address that the link was sent to, and the token, which the caller consumes in its
 * transaction.
 */
export async function readLink(sql: Sql, shown: ShownLink) {
  const { text, purpose, realm, visit } = shown;
  const token = { hash: hashSecret(text), purpose, realm, now: visit.now };
  const isLink = isSecret('mailLink', text);
  const email = await findByLink(sql, { visit, isLink }, () => selectEmailToken(sql, token));
  return isRefusal(email) ? email : { email, token };
}
