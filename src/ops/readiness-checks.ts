import type { Database } from '#db/database.ts';
import type { Chain } from '#settlement/chain/chain.ts';

export interface HealthCheck {
  readonly name: string;
  /**
   * True if the process is not ready without this dependency, because it could not serve requests.
   */
  readonly required: boolean;
  /** The time of the last successful run (`performance.now()`), if there was one. */
  okAt?: number;
  /** Throws if the dependency is not available. */
  run(): Promise<void>;
}

export interface CheckResult {
  readonly status: 'ok' | 'failing';
  readonly required: boolean;
  readonly duration_ms: number;
}

/** The body of `/readyz`. */
export interface Health {
  readonly status: 'ready' | 'not_ready';
  readonly checks: Readonly<Record<string, CheckResult>>;
}

/**
 * Time limit of a check: a load balancer probes every few seconds and has a short time-out itself.
 */
const CHECK_TIMEOUT_MS = 2_000;
/** With a grace period the answer must come before the load balancer's time-out of 2 s. */
const CHECK_IN_GRACE_MS = 1_000;

async function runCheck(check: HealthCheck, limitMs: number): Promise<CheckResult> {
  const started = performance.now();
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error('no answer')), limitMs);
  });
  const passed = await Promise.race([check.run(), late]).then(
    () => true,
    () => false,
  );
  clearTimeout(timer);
  if (passed) check.okAt = performance.now();
  return {
    status: passed ? 'ok' : 'failing',
    required: check.required,
    duration_ms: Math.round(performance.now() - started),
  };
}

/**
 * Checks whether this process can serve requests; if not, returns the reasons.
 * @param graceMs for how long after its last success a required dependency may fail. All processes
 * share the database, so a load balancer that removed them during a pause would answer itself.
 */
export async function checkReadiness(checks: readonly HealthCheck[], graceMs = 0): Promise<Health> {
  const limitMs = graceMs > 0 ? CHECK_IN_GRACE_MS : CHECK_TIMEOUT_MS;
  const results = await Promise.all(checks.map((check) => runCheck(check, limitMs)));
  const now = performance.now();
  const isInGrace = ({ okAt }: HealthCheck) => okAt !== undefined && now - okAt < graceMs;
  const failing = checks.some(
    (check, n) => check.required && results[n]?.status === 'failing' && !isInGrace(check),
  );
  return {
    status: failing ? 'not_ready' : 'ready',
    checks: Object.fromEntries(results.map((result, index) => [checks[index]?.name, result])),
  };
}

export function databaseCheck(db: Database): HealthCheck {
  return {
    name: 'database',
    required: true,
    run: async () => {
      await db.query('select 1 as ok');
    },
  };
}

/**
 * Lifetime of a node's cached answer: probes come every few seconds, and each request to a node
 * costs money.
 */
const CHAIN_FRESH_MS = 15_000;

/** The chain is not required: without it, only confirmations, refunds and balances do not work. */
export function chainCheck(chain: Chain): HealthCheck {
  return {
    name: chain.config.network,
    required: false,
    run: async () => {
      if (performance.now() - chain.rpc.answeredAt() < CHAIN_FRESH_MS) return;
      await chain.newest();
    },
  };
}
