import type { FastifyReply, FastifyRequest } from 'fastify';
import { selectLookOfIntent } from '#apis/pay/brand-queries.ts';
import { withBrand } from '#core/brand-styles.ts';
import { addressKey, memoryRateLimiter } from '#http/rate-limit.ts';
import type { PageFor } from '#i18n/languages.ts';
import type { ApiContext } from '#payments/api-context.ts';
import { intentOfToken } from '#payments/pay-link.ts';

/**
 * Above this rate, a client gets the page without the merchant's style, so that the database is not
 * read. That page shows errors itself.
 */
const LIMIT = { requests: 240, seconds: 60 };

export function createPayGate({ db, keys }: ApiContext) {
  const limiter = memoryRateLimiter(LIMIT);
  return async (request: FastifyRequest, _reply: FastifyReply, pageFor: PageFor) => {
    const { '*': token = '' } = request.params as { readonly '*'?: string };
    const intentId = intentOfToken(keys.id, token);
    const rate = limiter.take(addressKey(request.ip));
    if (intentId === null || !rate.allowed) return null;
    const look = await selectLookOfIntent(db, intentId);
    return withBrand(pageFor(look?.language ?? null).html, look?.style ?? null);
  };
}
