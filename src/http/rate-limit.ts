/** How many requests per how many seconds. */
export interface RateLimit {
  readonly requests: number;
  readonly seconds: number;
}

/** Where a caller stands after a request. */
export interface RateDecision {
  readonly allowed: boolean;
  readonly limit: number;
  readonly remaining: number;
  /** Whole seconds until the full quota is there again. */
  readonly resetSeconds: number;
  /** Whole seconds, at least 1, until a request will be let in; 0 when this one was. */
  readonly retryAfterSeconds: number;
}

export interface RateLimiter {
  take(key: string, nowMs: number): Promise<RateDecision> | RateDecision;
}

/** Callers without a valid key count against their address. */
export function addressKey(address: string): string {
  return `address ${address}`;
}

/** Callers that have been quiet for a window are forgotten when the table reaches this size. */
const SWEEP_AT = 10_000;

/**
 * The generic cell rate algorithm: one number per caller (when its next request would fit a
 * steady rhythm), so bursts up to the quota pass and no window edge lets two quotas through.
 */
export function decideRate(
  limit: RateLimit,
  theoreticalArrivalMs: number,
  nowMs: number,
): RateDecision & { readonly nextArrivalMs: number } {
  const windowMs = limit.seconds * 1000;
  const spacingMs = windowMs / limit.requests;
  const start = Math.max(theoreticalArrivalMs, nowMs);
  const next = start + spacingMs;
  const overMs = next - windowMs - nowMs;
  // Half a microsecond of tolerance: the sum of many spacings is not exact.
  const allowed = overMs <= 0.0005;
  const debtMs = (allowed ? next : start) - nowMs;
  return {
    allowed,
    limit: limit.requests,
    remaining: Math.max(0, Math.floor((windowMs - debtMs) / spacingMs + 1e-6)),
    resetSeconds: Math.ceil(debtMs / 1000),
    retryAfterSeconds: allowed ? 0 : Math.max(1, Math.ceil(overMs / 1000)),
    nextArrivalMs: allowed ? next : start,
  };
}

export function memoryRateLimiter(limit: RateLimit): RateLimiter {
  const arrivals = new Map<string, number>();
  return {
    take: (key, nowMs) => {
      if (arrivals.size >= SWEEP_AT) {
        for (const [known, at] of arrivals) if (at <= nowMs) arrivals.delete(known);
      }
      const decision = decideRate(limit, arrivals.get(key) ?? 0, nowMs);
      arrivals.set(key, decision.nextArrivalMs);
      return decision;
    },
  };
}
