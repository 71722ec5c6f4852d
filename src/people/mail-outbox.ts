import { randomUUID } from 'node:crypto';
import { rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { type Loop, startLoop } from '#core/background-loop.ts';
import { decrypt, encrypt } from '#core/bearer-secrets.ts';
import { addMs } from '#core/clock.ts';
import { failpoint } from '#core/failpoints.ts';
import type { Tx } from '#db/database.ts';
import type { ProcessContext } from '#db/process-context.ts';
import { makeOwnFolder } from '#files/own-files.ts';
import type { TextLanguage } from '#i18n/languages.ts';
import { type MailButton, mailHtml } from '#people/mail-html.ts';
import {
  claimMails,
  insertMail,
  markSent,
  markUnsendable,
  postponeMail,
} from '#people/mail-queries.ts';
import { MAIL_TOPIC } from '#people/people-context.ts';

export interface Mail {
  readonly to: string;
  readonly subject: string;
  /** Plain text, wrapped at the usual width. The HTML version is generated from it. */
  readonly text: string;
  /** Our own URLs that are paragraphs of the text; in the HTML version, each becomes a button. */
  readonly buttons?: readonly MailButton[];
  /** Default: English. */
  readonly language?: TextLanguage;
}

/**
 * Sends mails.
 * @throws if the mail server does not accept a mail; the mail is then retried.
 */
export interface Mailer {
  send(mail: Mail): Promise<void>;
}

/** Time-out for a mail server, because waiting for a slow server delays the other mails. */
const SMTP_TIMEOUT_MS = 20_000;

/** Sends through a mail server: `smtps://user:password@host:465` or `smtp://host:587`. */
export function smtpMailer(options: { readonly url: string; readonly from: string }): Mailer {
  let opened: ReturnType<typeof openTransport> | null = null;
  return {
    send: async (mail) => {
      const { to, subject, text } = mail;
      opened ??= openTransport(options.url);
      const transport = await opened;
      await transport.sendMail({ to, subject, text, html: mailHtml(mail), from: options.from });
    },
  };
}

async function openTransport(url: string) {
  // Loaded at first use, because a service without a mail server does not need it.
  const { createTransport } = await import('nodemailer');
  return createTransport({
    url,
    connectionTimeout: SMTP_TIMEOUT_MS,
    greetingTimeout: SMTP_TIMEOUT_MS,
    socketTimeout: SMTP_TIMEOUT_MS,
  });
}

/**
 * Signs in to the mail server without sending anything. @throws if the sign-in fails, with the
 * reason.
 */
export async function checkMailServer(url: string): Promise<string> {
  await (await openTransport(url)).verify();
  return 'the server accepts our sign-in';
}

/**
 * Writes each mail to a JSON file, named after the time and readable only by the file's owner. For
 * the sandbox.
 */
export function fileMailer(folder: string): Mailer {
  return {
    send: async (mail) => {
      await makeOwnFolder(folder);
      const name = `${new Date().toISOString().replaceAll(':', '-')}-${randomUUID()}.json`;
      const file = path.join(folder, name);
      await writeFile(`${file}.part`, `${JSON.stringify(mail, null, 2)}\n`, {
        mode: 0o600,
        flag: 'wx',
      });
      await rename(`${file}.part`, file);
    },
  };
}

/** Queues a mail in the transaction that causes it. The commit wakes the mail worker. */
export async function queueMail(
  tx: Tx,
  secretKey: Buffer,
  mail: Mail & { readonly now: Date },
): Promise<void> {
  const { now, ...content } = mail;
  const context = `mail ${randomUUID()}`;
  const sealed = encrypt(secretKey, JSON.stringify(content), context);
  await insertMail(tx, { context, sealed, now });
  tx.hint(MAIL_TOPIC, '');
}

export interface MailWorkerDeps extends ProcessContext {
  readonly secretKey: Buffer;
  readonly mailer: Mailer;
}

/** Lease of a mail: if a worker dies while sending it, another one sends it after this time. */
const LEASE_MS = 60_000;
const BATCH = 10;
/**
 * Delays before a retry, by the number of failed attempts. After the last attempt, the mail counts
 * as failed.
 */
const RETRY_MS: readonly number[] = [
  ...[10_000, 60_000, 300_000, 1_800_000, 7_200_000],
  // Retries for three days, so that no mail is lost if the mail server is down over a weekend.
  ...Array.from({ length: 12 }, () => 21_600_000),
];
const POLL_MS = 10_000;

/**
 * Returns the error without the address: mail servers repeat the address in their messages, and it
 * must not be logged.
 */
function withoutAddress(thrown: unknown, to: string): Error {
  const said = thrown instanceof Error ? thrown.message : String(thrown);
  if (to === '') return new Error(said);
  const mailbox = to.replaceAll(/[^a-z0-9]/gi, '\\$&');
  return new Error(said.replaceAll(new RegExp(mailbox, 'gi'), '…'));
}

/** Sends due mails. @returns true if there may be more. */
export async function sendDueMails(deps: MailWorkerDeps): Promise<boolean> {
  const now = deps.clock.now();
  const mails = await claimMails(deps.db, { now, again: addMs(now, LEASE_MS), limit: BATCH });
  for (const mail of mails) {
    let to = '';
    try {
      const content = JSON.parse(decrypt(deps.secretKey, mail.sealed, mail.context)) as Mail;
      to = content.to;
      failpoint('mail.taken');
      await deps.mailer.send(content);
      failpoint('mail.sent');
      await markSent(deps.db, mail.id, deps.clock.now());
    } catch (thrown) {
      const wait = RETRY_MS[mail.attempts - 1];
      const error = withoutAddress(thrown, to);
      deps.log.warn('mail not sent', { mail: mail.id, attempt: mail.attempts, error });
      if (wait === undefined) await markUnsendable(deps.db, mail.id, deps.clock.now());
      else await postponeMail(deps.db, mail.id, addMs(deps.clock.now(), wait));
    }
  }
  return mails.length === BATCH;
}

export function startMailWorker(deps: MailWorkerDeps): Loop {
  const loop = startLoop({
    name: 'mail',
    pollMs: POLL_MS,
    run: () => sendDueMails(deps),
    onError: (name, error) => deps.log.error('worker failed', { worker: name, error }),
  });
  const off = deps.wakeups.on(MAIL_TOPIC, '', loop.wake);
  return {
    wake: loop.wake,
    stop: () => {
      off();
      return loop.stop();
    },
  };
}
