import { createHash } from 'node:crypto';
import type { FastifyReply } from 'fastify';
import { directionOf, languageTag, type TextLanguage } from '#i18n/languages.ts';

const STYLE =
  'body{font:17px/1.5 system-ui,sans-serif;max-width:34rem;margin:3rem auto;padding:0 1rem}' +
  'button{font:inherit;padding:.6rem 1.2rem}';

const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64');

/**
 * Headers that forbid scripts and anything from other origins. Forms may submit only to this
 * origin.
 */
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

/** Renders a page that needs no web app. `body` is HTML. */
export function plainPage(title: string, body: string, language: TextLanguage = 'en'): string {
  return (
    `<!doctype html>\n<html lang="${languageTag(language)}" dir="${directionOf(language)}">\n` +
    '<head>\n<meta charset="utf-8">\n' +
    '<meta name="viewport" content="width=device-width, initial-scale=1">\n' +
    `<title>${title}</title>\n<style>${STYLE}</style>\n</head>\n<body>\n` +
    `<main>\n<h1>${title}</h1>\n${body}\n</main>\n</body>\n</html>\n`
  );
}

export function sendPage(reply: FastifyReply, status: number, html: string): FastifyReply {
  return reply.code(status).headers(HEADERS).send(html);
}
