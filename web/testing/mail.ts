import { eventually } from '#testkit/fixtures/webhooks/webhooks.ts';
import type { MailServer } from '#testkit/network/mail-server.ts';

/** Time limit for an email, because a worker sends it after its other work. */
const MAIL_MS = 30_000;

/** Decodes quoted-printable, as mail clients write it. */
function decode(message: string): string {
  return message.replaceAll(/=\r\n/g, '').replaceAll('=3D', '=');
}

/** Returns the newest email's link to this page, once it has arrived. */
export function mailedLink(mail: MailServer, to: string, page: string): Promise<string> {
  const link = new RegExp(`https?://\\S+/${page}#token=[\\w.~-]+`);
  return eventually(
    `a mail to ${to}`,
    async () => {
      const texts = mail.messages.filter((text) => text.includes(`To: ${to}`)).map(decode);
      return texts.map((text) => link.exec(text)?.[0]).findLast((match) => match !== undefined);
    },
    MAIL_MS,
  );
}
