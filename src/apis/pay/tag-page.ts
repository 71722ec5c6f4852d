import type { FastifyReply, FastifyRequest } from 'fastify';
import { findTag } from '#apis/pay/find-tag.ts';
import { withBrand } from '#core/brand-styles.ts';
import type { IdKey } from '#core/ids.ts';
import type { Database } from '#db/database.ts';
import { plainPage, sendPage } from '#http/plain-page.ts';
import { addressKey, memoryRateLimiter } from '#http/rate-limit.ts';

/** A shop's customers share an address where they share its wireless network. */
const LIMIT = { requests: 120, seconds: 60 };

const UNKNOWN = plainPage(
  'Nothing to pay here',
  '<p>No till has this address, or the shop has replaced it. Ask at the till.</p>',
);
const TOO_MANY = plainPage(
  'Too many visits',
  '<p>This page was opened too often from your connection. Wait a moment, then open it again.</p>',
);

/** Lets the page of a tag through, or sends what is shown instead. */
export function createTagGate(
  deps: { readonly db: Database; readonly idKey: IdKey },
  nowMs?: () => number,
) {
  const limiter = memoryRateLimiter(LIMIT, nowMs);
  return async (
    request: FastifyRequest,
    reply: FastifyReply,
    html: string,
  ): Promise<FastifyReply | string> => {
    const rate = limiter.take(addressKey(request.ip));
    if (!rate.allowed) {
      return sendPage(reply.header('Retry-After', rate.retryAfterSeconds), 429, TOO_MANY);
    }
    const { '*': token = '' } = request.params as { readonly '*'?: string };
    const terminal = await findTag(deps, token);
    return terminal === null
      ? sendPage(reply, 404, UNKNOWN)
      : withBrand(html, terminal.brand_style);
  };
}
