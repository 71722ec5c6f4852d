import { randomUUID } from 'node:crypto';
import { type Loop, startLoop } from '#core/background-loop.ts';
import { addMs } from '#core/clock.ts';
import { createBatcher } from '#db/batching.ts';
import type { Database } from '#db/database.ts';
import type { ProcessContext } from '#db/process-context.ts';
import { describeError, type Log } from '#observability/log.ts';
import { claimEndpoints, fetchDue, releaseEndpoints } from '#webhooks/delivery-queue-queries.ts';
import { disableEndpoint, type NotifyDisabled } from '#webhooks/disable-endpoint.ts';
import { Dispatcher } from '#webhooks/dispatcher.ts';
import { type Resolver, systemResolver } from '#webhooks/dns-resolver.ts';
import { startHousekeeping } from '#webhooks/housekeeping.ts';
import { addressPolicy } from '#webhooks/refuse-private-addresses.ts';

export interface WebhookWorkerDeps extends ProcessContext {
  /** Decrypts the signing secrets (AES-256-GCM with the endpoint's id as context). */
  readonly secretKey: Buffer;
  /** CIDRs exempt from the private-address refusal (WEBHOOK_ALLOW_CIDRS). */
  readonly allowCidrs: readonly string[];
  /** For sandboxes: webhooks may go to receivers on this machine. */
  readonly ownMachine?: boolean;
  readonly resolver?: Resolver;
  /** Certificate authorities to trust in addition to the default ones. */
  readonly ca?: string;
  readonly traceOf?: (body: string) => Promise<string | null>;
  readonly notifyDisabled?: NotifyDisabled;
}

export interface WebhookWorker {
  /** Signals that work may be waiting. */
  wake(): void;
  /** Lets requests in flight finish (at most a few seconds), then releases the leases. */
  stop(): Promise<void>;
  stats(): { readonly endpoints: number; readonly inFlight: number };
}

/** The interval at which the worker polls, because hints can be lost. */
const POLL_MS = 500;
/**
 * The interval at which leases are renewed. A lease lasts four times as long, so that a slow
 * renewal does not lose it.
 */
const HEARTBEAT_MS = 5_000;
/**
 * Duration of an endpoint's lease: the longest that its deliveries wait after its worker was
 * killed.
 */
export const LEASE_MS = 20_000;
/** Time limit of a stop, within the ten seconds in which the whole process must end. */
const STOP_MS = 7_000;

function allowLate(ms: number): Promise<'late'> {
  return new Promise((resolve) => setTimeout(resolve, ms, 'late').unref());
}

async function disable(deps: WebhookWorkerDeps, endpointId: string): Promise<void> {
  const { db, clock, wakeups } = deps;
  const ending = {
    endpointId,
    reason: 'gone',
    now: clock.now(),
    tell: deps.notifyDisabled,
  } as const;
  const done = await disableEndpoint(db, ending);
  if (done === null) return;
  if (done.deliveries > 0) wakeups.send('deliveries');
}

function startTaking(
  deps: WebhookWorkerDeps,
  worker: {
    readonly owner: string;
    readonly dispatcher: Dispatcher;
    readonly onError: (name: string, error: unknown) => void;
  },
): { readonly fetching: Loop; readonly claiming: Loop } {
  const { owner, dispatcher, onError } = worker;
  const loop = (name: string, run: () => Promise<boolean>) =>
    startLoop({ name, pollMs: POLL_MS, run, onError });
  const fetching = loop('webhook fetches', createFetcher(deps, dispatcher));
  const later = (ms: number) => void setTimeout(() => claiming.wake(), ms).unref();
  const claim = createClaimer(deps, { owner, dispatcher }, { fetch: fetching.wake, later });
  const claiming: Loop = loop('webhook claims', claim);
  return { fetching, claiming };
}

async function stopAll(
  dispatcher: Dispatcher,
  loops: readonly { stop(): Promise<void> }[],
  unhear: readonly (() => void)[],
): Promise<void> {
  for (const end of unhear) end();
  await Promise.all(loops.map((loop) => loop.stop()));
  if ((await Promise.race([dispatcher.drain(), allowLate(STOP_MS)])) === 'late')
    dispatcher.abandon();
  await dispatcher.releaseAll();
}

/**
 * Any number of workers share the database: each leases endpoints, sends their due deliveries, and
 * records the results. It is woken by `deliveries` (rows were written) and `webhook-endpoints` (an
 * endpoint was changed).
 */
export function startWebhookWorker(deps: WebhookWorkerDeps): WebhookWorker {
  const owner = randomUUID();
  const onError = (name: string, error: unknown) =>
    deps.log.error('a webhook loop failed', { loop: name, error: describeError(error) });
  const network = {
    policy: addressPolicy(deps.allowCidrs, deps),
    resolver: deps.resolver ?? systemResolver(),
    ...(deps.ca === undefined ? {} : { ca: deps.ca }),
  };
  const releaser = createReleaser(deps, owner);
  const dispatcher: Dispatcher = new Dispatcher({
    ...deps,
    network,
    owner,
    leaseMs: LEASE_MS,
    release: releaser.release,
    gone: (endpointId) => {
      disable(deps, endpointId).catch((error: unknown) => onError('disable', error));
    },
    hasCapacity: () => fetching.wake(),
    released: () => claiming.wake(),
  });
  const { fetching, claiming } = startTaking(deps, { owner, dispatcher, onError });
  const heartbeat = startLoop({
    name: 'webhook leases',
    pollMs: HEARTBEAT_MS,
    run: async () => {
      await releaser.retry();
      return dispatcher.renew();
    },
    onError,
  });
  const housekeeping = startHousekeeping(deps, onError, deps.notifyDisabled);
  const wake = () => {
    dispatcher.expectWork();
    fetching.wake();
    claiming.wake();
  };
  const unhear = [
    deps.wakeups.on('deliveries', '', wake),
    deps.wakeups.on('webhook-endpoints', '', heartbeat.wake),
  ];
  return {
    wake,
    stop: () => stopAll(dispatcher, [fetching, claiming, heartbeat, housekeeping], unhear),
    stats: () => dispatcher.stats(),
  };
}

/** Leases released per statement. */
const MAX_RELEASES = 500;

/** Creates a function that releases leases in batches. Failed releases are retried. */
function createReleaser(deps: { readonly db: Database; readonly log: Log }, owner: string) {
  const batcher = createBatcher<string, void>({
    run: async (ids) => {
      await releaseEndpoints(deps.db, owner, ids);
      return ids.map(() => undefined);
    },
    maxInFlight: 1,
    maxItems: MAX_RELEASES,
  });
  const unreleased = new Set<string>();
  const release = async (endpointId: string) => {
    try {
      await batcher.add(endpointId);
      unreleased.delete(endpointId);
    } catch (error) {
      // The lease also expires, but an expired lease can be taken only by other workers: a worker
      // never takes over from itself.
      unreleased.add(endpointId);
      deps.log.warn('a webhook lease could not be released', { error: describeError(error) });
    }
  };
  return { release, retry: () => Promise.all([...unreleased].map(release)) };
}

/**
 * Maximum number of endpoints held by one process. The others wait for another worker or for their
 * turn.
 */
const MAX_ENDPOINTS = { healthy: 2_000, failing: 500 };
/** Maximum number of endpoints taken over per turn. */
const MAX_CLAIMED = 200;
/** The largest share of time spent on claiming endpoints. */
const CLAIM_SHARE = 0.25;
/** Maximum pause after a claim, so that one slow query does not delay the next claim for long. */
const MAX_CLAIM_PAUSE_MS = 300;

/**
 * Creates one turn of the loop that claims endpoints without a worker. A turn calls `fetch` if it
 * claimed some, and `later` if it came too early.
 */
function createClaimer(
  { db, clock }: ProcessContext,
  { owner, dispatcher }: { readonly owner: string; readonly dispatcher: Dispatcher },
  next: { readonly fetch: () => void; readonly later: (ms: number) => void },
): () => Promise<boolean> {
  let after = '';
  let nextClaimMs = 0;
  const limits = () => {
    const has = dispatcher.counts();
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
    const leaseUntil = addMs(now, LEASE_MS);
    const rows = await claimEndpoints(db, { owner, now, leaseUntil, after, limits: limits() });
    const taken = performance.now() - started;
    const pauseMs = Math.min(taken * (1 / CLAIM_SHARE - 1), MAX_CLAIM_PAUSE_MS);
    nextClaimMs = performance.now() + pauseMs;
    for (const row of rows) dispatcher.add(row);
    if (rows.length > 0) next.fetch();
    // If the turn was full, continue after the last endpoint taken; otherwise start from the
    // beginning.
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
 * Creates one turn of the loop that fetches due deliveries. It is separate from claiming, so that
 * an endpoint already held gets its next delivery after one statement.
 */
function createFetcher(
  { db, clock }: ProcessContext,
  dispatcher: Dispatcher,
): () => Promise<boolean> {
  let nextPollMs = 0;
  return async () => {
    // Retries become due without a hint.
    if (performance.now() > nextPollMs) {
      nextPollMs = performance.now() + POLL_MS;
      dispatcher.expectWork();
    }
    const look = dispatcher.look();
    if (look.asks.length > 0) dispatcher.receive(look, await fetchDue(db, look.asks, clock.now()));
    return dispatcher.look().asks.length > 0;
  };
}
