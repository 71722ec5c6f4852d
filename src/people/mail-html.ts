import { escapeHtml } from '#core/escape-html.ts';
import { directionOf, languageTag, type TextLanguage } from '#i18n/languages.ts';
import { type Writer, writerFor } from '#i18n/text.ts';

/** One of our own URLs in a mail, and the label of its button. */
export interface MailButton {
  readonly url: string;
  readonly name: string;
}

/** Styles are inline, because mail programs support no style sheets. Nothing is loaded remotely. */
const BODY =
  'margin:0;padding:24px 12px;background:#f6f7f9;color:#14171c;' +
  'font:16px/1.5 system-ui,-apple-system,Segoe UI,Roboto,Arial,sans-serif';
const CARD =
  'max-width:34rem;margin:0 auto;padding:28px;background:#ffffff;border:1px solid #dcdfe6;' +
  'border-radius:16px';
const BRAND = 'margin:0 0 16px;color:#545b69;font-size:14px;font-weight:600';
const TITLE = 'margin:0 0 16px;font-size:20px;line-height:1.3';
const PARAGRAPH = 'margin:0 0 16px;overflow-wrap:anywhere';
const SMALL = 'margin:0 0 16px;color:#545b69;font-size:13px;overflow-wrap:anywhere';
const CELL = 'border-radius:10px;background:#3346c8';
const BUTTON =
  'display:inline-block;padding:12px 20px;color:#ffffff;font-weight:600;text-decoration:none';

function button({ url, name }: MailButton, writer: Writer): string {
  const address = escapeHtml(url);
  return (
    '<table role="presentation" cellspacing="0" cellpadding="0" style="margin:0 0 12px"><tr>' +
    `<td style="${CELL}"><a href="${address}" style="${BUTTON}">${escapeHtml(name)}</a></td>` +
    `</tr></table>\n<p style="${SMALL}">${writer.html('mail.copy_address', { address: url })}</p>`
  );
}

function paragraph(text: string, buttons: readonly MailButton[], writer: Writer): string {
  const match = buttons.find(({ url }) => url === text);
  if (match !== undefined) return button(match, writer);
  return `<p style="${PARAGRAPH}">${escapeHtml(text).replaceAll('\n', '<br>\n')}</p>`;
}

/**
 * Returns the HTML version of a mail's text, with the same paragraphs. Only a paragraph that
 * consists of one of our URLs becomes a button, so text that a user entered never becomes a link.
 */
export function mailHtml(mail: {
  readonly subject: string;
  readonly text: string;
  readonly buttons?: readonly MailButton[];
  readonly language?: TextLanguage;
}): string {
  const { language = 'en' } = mail;
  const writer = writerFor(language);
  const paragraphs = mail.text.trim().split(/\n{2,}/);
  const title = escapeHtml(mail.subject);
  return (
    `<!doctype html>\n<html lang="${languageTag(language)}" dir="${directionOf(language)}">\n` +
    '<head>\n<meta charset="utf-8">\n' +
    '<meta name="viewport" content="width=device-width, initial-scale=1">\n' +
    `<title>${title}</title>\n</head>\n<body style="${BODY}">\n<div style="${CARD}">\n` +
    `<p style="${BRAND}">Tapline</p>\n<h1 style="${TITLE}">${title}</h1>\n` +
    `${paragraphs.map((one) => paragraph(one, mail.buttons ?? [], writer)).join('\n')}\n` +
    '</div>\n</body>\n</html>\n'
  );
}
