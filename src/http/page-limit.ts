import type { FastifyReply, FastifyRequest } from 'fastify';
import { plainPage, sendPage } from '#http/plain-page.ts';
import { addressKey, memoryRateLimiter, type RateLimit } from '#http/rate-limit.ts';

/** Somebody who reads by hand needs a few; whoever tries links gets no further. */
export const PAGES: RateLimit = { requests: 120, seconds: 60 };
/** Several balancers may ask from one address, many times a second. */
export const PROBES: RateLimit = { requests: 1_000, seconds: 10 };

const TOO_MANY = plainPage('Too many requests', '<p>Wait a minute, then try again.</p>');

/**
 * For what has no key and belongs to no API, such as the pages of links in mails: by address (IPv6
 * by /64), in this process, before anything is looked up.
 */
export function limitByAddress(limit: RateLimit) {
  const limiter = memoryRateLimiter(limit);
  return (request: FastifyRequest, reply: FastifyReply, done: () => void): void => {
    const { allowed, retryAfterSeconds } = limiter.take(addressKey(request.ip));
    if (allowed) done();
    else sendPage(reply.header('Retry-After', String(retryAfterSeconds)), 429, TOO_MANY);
  };
}
