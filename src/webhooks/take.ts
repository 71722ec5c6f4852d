import { addMs, type Clock } from '#core/clock.ts';
import type { Database } from '#db/database.ts';
import type { Fleet } from '#webhooks/fleet.ts';
import { claimEndpoints, fetchDue } from '#webhooks/queue-queries.ts';

export interface TakeDeps {
  readonly db: Database;
  readonly clock: Clock;
  readonly owner: string;
  readonly fleet: Fleet;
  readonly leaseMs: number;
  /** How often all endpoints are looked at, with or without hints. */
  readonly pollMs: number;
}

/** Endpoints that one process holds; more wait for the next worker or the next turn. */
const MAX_ENDPOINTS = { healthy: 2_000, failing: 500 };
/** Taken over at one turn. */
const MAX_CLAIMED = 200;
/** Looking for endpoints without an owner may take this share of the time. */
const CLAIM_SHARE = 0.25;
/** A look that waited for something else must not make the next one wait for long. */
const MAX_CLAIM_PAUSE_MS = 300;

/**
 * One turn of the loop that takes over endpoints that no worker holds. `fetch` is called when there
 * are new ones, `later` when the turn came too early.
 */
export function createClaimer(
  deps: TakeDeps,
  next: { readonly fetch: () => void; readonly later: (ms: number) => void },
): () => Promise<boolean> {
  const { db, clock, owner, fleet } = deps;
  let after = '';
  let nextClaimMs = 0;
  const limits = () => {
    const has = fleet.counts();
    return {
      healthy: Math.max(0, Math.min(MAX_CLAIMED, MAX_ENDPOINTS.healthy - has.healthy)),
      failing: Math.max(0, Math.min(MAX_CLAIMED, MAX_ENDPOINTS.failing - has.failing)),
    };
  };
  return async () => {
    const started = performance.now();
    if (started < nextClaimMs) {
      next.later(nextClaimMs - started);
      return false;
    }
    const now = clock.now();
    const leaseUntil = addMs(now, deps.leaseMs);
    const rows = await claimEndpoints(db, { owner, now, leaseUntil, after, limits: limits() });
    const taken = performance.now() - started;
    const pauseMs = Math.min(taken * (1 / CLAIM_SHARE - 1), MAX_CLAIM_PAUSE_MS);
    nextClaimMs = performance.now() + pauseMs;
    for (const row of rows) fleet.add(row);
    if (rows.length > 0) next.fetch();
    // Around the circle: from behind the last one taken, and from the start after that.
    const more = rows.length >= MAX_CLAIMED;
    const again = more || after !== '';
    after = more
      ? (rows
          .map((row) => row.endpoint_id)
          .sort()
          .at(-1) ?? '')
      : '';
    return again;
  };
}

/**
 * One turn of the loop that fetches what is due. Apart from the claims, so that an endpoint that is
 * already held gets its next delivery after one statement.
 */
export function createFetcher(deps: TakeDeps): () => Promise<boolean> {
  const { db, clock, fleet } = deps;
  let nextPollMs = 0;
  return async () => {
    // Time passes without hints too: retries fall due.
    if (performance.now() > nextPollMs) {
      nextPollMs = performance.now() + deps.pollMs;
      fleet.expectWork();
    }
    const look = fleet.look();
    if (look.asks.length > 0) fleet.receive(look, await fetchDue(db, look.asks, clock.now()));
    return fleet.look().asks.length > 0;
  };
}
