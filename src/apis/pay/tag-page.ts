import type { FastifyReply, FastifyRequest } from 'fastify';
import { findTag } from '#apis/pay/find-tag.ts';
import { withBrand } from '#core/brand-styles.ts';
import { plainPage, sendPage } from '#http/plain-page.ts';
import { addressKey, memoryRateLimiter } from '#http/rate-limit.ts';
import type { PageFor, TextLanguage } from '#i18n/languages.ts';
import { type TextKey, writerFor } from '#i18n/text.ts';
import type { ApiContext } from '#payments/api-context.ts';

/**
 * Rate limit per IP address. It is generous, because a shop's customers share one address on its
 * Wi-Fi.
 */
const LIMIT = { requests: 120, seconds: 60 };

function page(language: TextLanguage, heading: TextKey, text: TextKey): string {
  const writer = writerFor(language);
  return plainPage(writer.html(heading), `<p>${writer.html(text)}</p>`, language);
}

/**
 * Serves the page of a tag. For an unknown tag, answers with a plain 404 page; above the rate
 * limit, with a plain 429 page.
 */
export function createTagGate(ctx: ApiContext, nowMs?: () => number) {
  const limiter = memoryRateLimiter(LIMIT, nowMs);
  return async (
    request: FastifyRequest,
    reply: FastifyReply,
    pageFor: PageFor,
  ): Promise<FastifyReply | string> => {
    const rate = limiter.take(addressKey(request.ip));
    if (!rate.allowed) {
      const refusal = page(pageFor(null).language, 'tag.too_many.heading', 'tag.too_many.text');
      return sendPage(reply.header('Retry-After', rate.retryAfterSeconds), 429, refusal);
    }
    const { '*': token = '' } = request.params as { readonly '*'?: string };
    const terminal = await findTag(ctx, token);
    if (terminal === null) {
      const missing = page(pageFor(null).language, 'pay.missing.heading', 'tag.missing');
      return sendPage(reply, 404, missing);
    }
    return withBrand(pageFor(terminal.language).html, terminal.brand_style);
  };
}
