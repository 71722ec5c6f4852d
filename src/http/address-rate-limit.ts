import type { FastifyReply, FastifyRequest } from 'fastify';
import { plainPage, sendPage } from '#http/plain-page.ts';
import { addressKey, memoryRateLimiter, type RateLimit } from '#http/rate-limit.ts';

/** Rate limit of pages: a person needs a few; it stops a client that guesses links. */
export const PAGES: RateLimit = { requests: 120, seconds: 60 };
/** Limit on probes: several load balancers may probe from one address, many times a second. */
export const PROBES: RateLimit = { requests: 1_000, seconds: 10 };

const TOO_MANY = plainPage('Too many requests', '<p>Wait a minute, then try again.</p>');

/**
 * Limits by address (IPv6 by /64), in this process, before anything is looked up. For pages without
 * a key and outside every API, such as pages of mailed links.
 */
export function limitByAddress(limit: RateLimit) {
  const limiter = memoryRateLimiter(limit);
  return (request: FastifyRequest, reply: FastifyReply, done: () => void): void => {
    const { allowed, retryAfterSeconds } = limiter.take(addressKey(request.ip));
    if (allowed) done();
    else sendPage(reply.header('Retry-After', String(retryAfterSeconds)), 429, TOO_MANY);
  };
}
