import type { FastifyReply, FastifyRequest } from 'fastify';
import { plainPage, sendPage } from '#http/plain-page.ts';
import { addressKey, memoryRateLimiter, type RateLimit } from '#http/rate-limit.ts';

/** Rate limit for pages. A person loads only a few; clients that guess links hit the limit. */
export const PAGES: RateLimit = { requests: 120, seconds: 60 };
/**
 * Rate limit for health probes: several load balancers may send several per second from one
 * address.
 */
export const PROBES: RateLimit = { requests: 1_000, seconds: 10 };

const TOO_MANY = plainPage('Too many requests', '<p>Wait a minute, then try again.</p>');

/**
 * Limits requests per IP address (IPv6: per /64), in this process's memory and before any look-up.
 * For pages without a key outside every API, such as those that mailed links open.
 */
export function limitByAddress(limit: RateLimit) {
  const limiter = memoryRateLimiter(limit);
  return (request: FastifyRequest, reply: FastifyReply, done: () => void): void => {
    const { allowed, retryAfterSeconds } = limiter.take(addressKey(request.ip));
    if (allowed) done();
    else sendPage(reply.header('Retry-After', String(retryAfterSeconds)), 429, TOO_MANY);
  };
}
