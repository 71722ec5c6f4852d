import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Clock, systemClock } from '#core/clock.ts';
import { newId } from '#core/ids.ts';
import type { Tenant } from '#core/mode.ts';
import type { Database } from '#db/database.ts';
import { localWakeups, type Wakeups } from '#db/wakeups.ts';
import { type Log, silentLog } from '#observability/log.ts';
import { type TestDatabase, testDatabase } from '#testing/database.ts';
import { startWebhookWorker, type WebhookWorker } from '#webhooks/delivery-loops.ts';
import { type Resolver, systemResolver } from '#webhooks/dns-resolver.ts';
import type { WebhookDeps } from '#webhooks/endpoint-rules.ts';
import { addressPolicy } from '#webhooks/refuse-private-addresses.ts';

export const LOCAL_CIDRS = ['127.0.0.0/8', '::1/128'];

/** A database with one account, and everything that webhook use cases depend on. */
export interface WebhookBench extends WebhookDeps {
  readonly url: string;
  readonly tenant: Tenant;
  readonly wakeups: Wakeups;
  readonly clock: Clock;
  readonly log: Log;
  /** Starts a worker, which stops when the bench closes. */
  startWorker(options?: Partial<Parameters<typeof startWebhookWorker>[0]>): WebhookWorker;
  close(): Promise<void>;
}

export async function insertAccount(db: Database, at: Date): Promise<Tenant> {
  const id = newId('account', at);
  await db.query('insert into accounts (id, name, created) values ($1, $2, $3)', [id, 'Demo', at]);
  await db.query(
    'insert into account_modes (account_id, livemode) values ($1, false), ($1, true)',
    [id],
  );
  return { accountId: id, livemode: false };
}

/** Returns the same bench, but with a new account. */
export async function withNewAccount(bench: WebhookBench): Promise<WebhookBench> {
  return { ...bench, tenant: await insertAccount(bench.db, bench.clock.now()) };
}

export async function openBench({
  clock = systemClock,
  resolver = systemResolver(),
  ca: authority,
}: {
  readonly clock?: Clock;
  readonly resolver?: Resolver;
  readonly ca?: string;
} = {}): Promise<WebhookBench> {
  const database: TestDatabase = await testDatabase();
  const workers: WebhookWorker[] = [];
  const { db } = database;
  const ca = authority === undefined ? {} : { ca: authority };
  const secretKey = randomBytes(32);
  const shared = { db, wakeups: localWakeups(), clock };
  return {
    ...shared,
    url: database.url,
    tenant: await insertAccount(db, clock.now()),
    log: silentLog,
    keys: { webhook: secretKey },
    outside: { webhooks: { policy: addressPolicy(LOCAL_CIDRS), resolver, ...ca } },
    startWorker: (options = {}) => {
      const deps = {
        ...shared,
        log: silentLog,
        secretKey,
        allowCidrs: LOCAL_CIDRS,
        resolver,
        ...ca,
      };
      const worker = startWebhookWorker({ ...deps, ...options });
      workers.push(worker);
      return worker;
    },
    close: async () => {
      await Promise.all(workers.map((worker) => worker.stop()));
      await database.close();
    },
  };
}

/**
 * Waits until `check` returns a value. The longer it waits, the less often it checks.
 * @throws if it does not in time
 */
export async function eventually<T>(
  what: string,
  check: () => Promise<T | undefined | null | false>,
  limitMs = 8_000,
): Promise<T> {
  const began = performance.now();
  for (;;) {
    const value = await check();
    if (value !== undefined && value !== null && value !== false) return value;
    const waitedMs = performance.now() - began;
    if (waitedMs > limitMs) throw new Error(`never happened: ${what}`);
    await sleep(Math.min(10 + waitedMs / 20, 100));
  }
}
