import ipaddr from 'ipaddr.js';
import { RecentMap } from '#core/size-limited-map.ts';

export interface RateLimit {
  readonly requests: number;
  readonly seconds: number;
}

export interface RateDecision {
  readonly allowed: boolean;
  readonly limit: number;
  readonly remaining: number;
  /** Whole seconds until the full quota is available again. */
  readonly resetSeconds: number;
  /** Whole seconds (at least 1) until a request will be accepted; 0 if this one was. */
  readonly retryAfterSeconds: number;
}

export interface RateLimiter {
  take(key: string): Promise<RateDecision> | RateDecision;
}

/** Number of 16-bit parts that identify an IPv6 subscriber, who usually has a whole /64. */
const IPV6_SUBSCRIBER_PARTS = 4;

/** Returns the rate-limit bucket of a caller without a valid API key: its IP address. */
export function addressKey(address: string): string {
  if (!ipaddr.isValid(address)) return `address ${address}`;
  const parsed = ipaddr.process(address);
  if (parsed.kind() === 'ipv4') return `address ${parsed.toString()}`;
  const parts = (parsed as ipaddr.IPv6).parts.slice(0, IPV6_SUBSCRIBER_PARTS);
  return `address ${parts.map((part) => part.toString(16)).join(':')}::/64`;
}

/**
 * Maximum number of callers that are counted; beyond it, the caller whose last request is oldest is
 * forgotten. A stranger with more addresses than this is not limited by an address anyway.
 */
const MAX_CALLERS = 50_000;

/** The result of counting a request, in milliseconds. */
interface RateFound {
  readonly allowed: boolean;
  /** Milliseconds until the caller's full quota is available again. */
  readonly debtMs: number;
  /** Milliseconds by which the request was too early; zero or negative if it was accepted. */
  readonly overMs: number;
}

export function decisionOf(limit: RateLimit, result: RateFound): RateDecision {
  const windowMs = limit.seconds * 1000;
  const spacingMs = windowMs / limit.requests;
  return {
    allowed: result.allowed,
    limit: limit.requests,
    remaining: Math.max(0, Math.floor((windowMs - result.debtMs) / spacingMs + 1e-6)),
    resetSeconds: Math.ceil(result.debtMs / 1000),
    retryAfterSeconds: result.allowed ? 0 : Math.max(1, Math.ceil(result.overMs / 1000)),
  };
}

/**
 * Decides by the generic cell rate algorithm. It stores one number per caller: when the next
 * request would fit a steady rate. Bursts up to the quota pass, and no window boundary allows two
 * quotas. A stored time more than a window ahead comes from before the clock stepped back, and
 * counts as a quota that was just used up.
 */
export function decideRate(
  limit: RateLimit,
  theoreticalArrivalMs: number,
  nowMs: number,
): { readonly decision: RateDecision; readonly nextArrivalMs: number } {
  const windowMs = limit.seconds * 1000;
  const start = Math.min(Math.max(theoreticalArrivalMs, nowMs), nowMs + windowMs);
  const next = start + windowMs / limit.requests;
  const overMs = next - windowMs - nowMs;
  // Half a microsecond of tolerance, because the sum of many intervals is not exact.
  const allowed = overMs <= 0.0005;
  const nextArrivalMs = allowed ? next : start;
  const result = { allowed, debtMs: nextArrivalMs - nowMs, overMs };
  return { decision: decisionOf(limit, result), nextArrivalMs };
}

/**
 * A limiter that decides synchronously, so that a request is counted before any work is done for
 * it.
 */
export interface MemoryRateLimiter extends RateLimiter {
  take(key: string): RateDecision;
}

/** @param clock returns milliseconds and, unlike the wall clock, never steps. */
export function memoryRateLimiter(
  limit: RateLimit,
  clock: () => number = () => performance.now(),
): MemoryRateLimiter {
  const arrivals = new RecentMap<number>(MAX_CALLERS);
  return {
    take: (key) => {
      const { decision, nextArrivalMs } = decideRate(limit, arrivals.get(key) ?? 0, clock());
      arrivals.set(key, nextArrivalMs);
      return decision;
    },
  };
}
