import { Redis } from 'ioredis';
import {
  decisionOf,
  memoryRateLimiter,
  type RateDecision,
  type RateLimit,
  type RateLimiter,
} from '#http/rate-limit.ts';
import type { Log } from '#observability/log.ts';

/**
 * The rule of `decideRate` as a script that Redis runs by its own clock, so that nodes with
 * different clocks share one quota. Redis's clock may step back, so a stored time counts as at most
 * one window ahead. Returns whether the request is allowed, then the debt and the excess in
 * milliseconds.
 */
const SCRIPT = `
local time = redis.call('TIME')
local now = time[1] * 1000 + time[2] / 1000
local window, spacing = tonumber(ARGV[1]), tonumber(ARGV[2])
local start = math.max(tonumber(redis.call('GET', KEYS[1]) or '0'), now)
start = math.min(start, now + window)
local next = start + spacing
local over = next - window - now
if over > 0.0005 then
  return {0, tostring(start - now), tostring(over)}
end
redis.call('SET', KEYS[1], string.format('%.3f', next), 'PX', math.ceil(next - now))
return {1, tostring(next - now), '0'}`;

/** Time that a request waits for Redis before its own node decides. */
const COMMAND_TIMEOUT_MS = 20;
/** After an error, the node decides alone for this long, so that no request waits for Redis. */
const PAUSE_MS = 1_000;
const RECONNECT_MS = 500;

export interface SharedRateLimiter extends RateLimiter {
  close(): Promise<void>;
}

/**
 * Creates rate limits that all nodes share through Redis. While Redis is unreachable, each node
 * counts alone: a caller gets up to one quota per node, and no request waits.
 */
export function redisRateLimiter(deps: {
  readonly url: string;
  readonly limit: RateLimit;
  readonly log: Log;
}): SharedRateLimiter {
  const { limit } = deps;
  const windowMs = limit.seconds * 1000;
  const spacingMs = windowMs / limit.requests;
  const alone = memoryRateLimiter(limit);
  const redis = new Redis(deps.url, {
    enableOfflineQueue: false,
    enableAutoPipelining: true,
    maxRetriesPerRequest: 0,
    commandTimeout: COMMAND_TIMEOUT_MS,
    retryStrategy: () => RECONNECT_MS,
  });
  redis.defineCommand('takeRate', { numberOfKeys: 1, lua: SCRIPT });
  let aloneUntilMs = 0;
  let isShared = true;

  const note = (shared: boolean) => {
    if (shared === isShared) return;
    isShared = shared;
    if (shared) deps.log.info('rate limits are shared through Redis again');
    else deps.log.warn('Redis is unreachable; rate limits apply per process');
  };
  // Ignores errors here, because each command reports its own to its caller. Without a listener,
  // Node would throw them.
  redis.on('error', () => {});
  return {
    take: async (key): Promise<RateDecision> => {
      if (performance.now() < aloneUntilMs || redis.status !== 'ready') {
        note(false);
        return alone.take(key);
      }
      try {
        const [fits, debt, over] = (await (redis as Redis & TakeRate).takeRate(
          `tapline:rate:${key}`,
          windowMs,
          spacingMs,
        )) as [number, string, string];
        note(true);
        const result = { allowed: fits === 1, debtMs: Number(debt), overMs: Number(over) };
        return decisionOf(limit, result);
      } catch {
        aloneUntilMs = performance.now() + PAUSE_MS;
        note(false);
        return alone.take(key);
      }
    },
    close: async () => redis.disconnect(),
  };
}

interface TakeRate {
  takeRate(key: string, windowMs: number, spacingMs: number): Promise<unknown>;
}
