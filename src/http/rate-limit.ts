import ipaddr from 'ipaddr.js';

/** The allowed requests per number of seconds. */
export interface RateLimit {
  readonly requests: number;
  readonly seconds: number;
}

/** The state of a caller's quota after a request. */
export interface RateDecision {
  readonly allowed: boolean;
  readonly limit: number;
  readonly remaining: number;
  /** Whole seconds until the full quota is available again. */
  readonly resetSeconds: number;
  /** Whole seconds, at least 1, until a request will be accepted; 0 if this one was. */
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

/** Table size from which callers without requests in the last window are removed. */
const SWEEP_AT = 10_000;
/**
 * Minimum time between sweeps. A sweep of a table full of active callers frees nothing, so it must
 * not run with every request.
 */
const SWEEP_EVERY_MS = 1_000;

/** The state of a caller, in milliseconds. */
interface RateFound {
  readonly allowed: boolean;
  /** The time until the caller's next regular request is due. */
  readonly debtMs: number;
  /** Milliseconds by which the request was too early; at most 0 for an accepted one. */
  readonly overMs: number;
}

export function decisionOf(limit: RateLimit, found: RateFound): RateDecision {
  const windowMs = limit.seconds * 1000;
  const spacingMs = windowMs / limit.requests;
  return {
    allowed: found.allowed,
    limit: limit.requests,
    remaining: Math.max(0, Math.floor((windowMs - found.debtMs) / spacingMs + 1e-6)),
    resetSeconds: Math.ceil(found.debtMs / 1000),
    retryAfterSeconds: found.allowed ? 0 : Math.max(1, Math.ceil(found.overMs / 1000)),
  };
}

/**
 * Decides by the generic cell rate algorithm: one number per caller (when its next request would
 * fit a steady rate), so that bursts up to the quota pass and no window boundary allows two quotas.
 * A time more than a window ahead was stored before the clock stepped back, and counts as a quota
 * that was just used up.
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
  // Half a microsecond of tolerance, because the sum of many spacings is not exact.
  const allowed = overMs <= 0.0005;
  const nextArrivalMs = allowed ? next : start;
  const found = { allowed, debtMs: nextArrivalMs - nowMs, overMs };
  return { decision: decisionOf(limit, found), nextArrivalMs };
}

/** Decides synchronously, so that no work is done for a request before it is counted. */
export interface MemoryRateLimiter extends RateLimiter {
  take(key: string): RateDecision;
}

/** @param clock Milliseconds; unlike the wall clock it never steps. */
export function memoryRateLimiter(
  limit: RateLimit,
  clock: () => number = () => performance.now(),
): MemoryRateLimiter {
  const arrivals = new Map<string, number>();
  let sweptMs = Number.NEGATIVE_INFINITY;
  return {
    take: (key) => {
      const nowMs = clock();
      if (arrivals.size >= SWEEP_AT && nowMs - sweptMs >= SWEEP_EVERY_MS) {
        sweptMs = nowMs;
        for (const [known, at] of arrivals) if (at <= nowMs) arrivals.delete(known);
      }
      const { decision, nextArrivalMs } = decideRate(limit, arrivals.get(key) ?? 0, nowMs);
      arrivals.set(key, nextArrivalMs);
      return decision;
    },
  };
}
