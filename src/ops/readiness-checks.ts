import type { Database } from '#db/database.ts';
import type { Chain } from '#settlement/chain/chain.ts';

/** A dependency of the service. */
export interface HealthCheck {
  readonly name: string;
  /**
   * True if the process is not ready without this dependency, because it could not serve requests.
   */
  readonly required: boolean;
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

async function runCheck(check: HealthCheck): Promise<CheckResult> {
  const started = performance.now();
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error('no answer')), CHECK_TIMEOUT_MS);
  });
  const passed = await Promise.race([check.run(), late]).then(
    () => true,
    () => false,
  );
  clearTimeout(timer);
  return {
    status: passed ? 'ok' : 'failing',
    required: check.required,
    duration_ms: Math.round(performance.now() - started),
  };
}

/** Checks whether this process can serve requests; if not, returns the reasons. */
export async function checkReadiness(checks: readonly HealthCheck[]): Promise<Health> {
  const results = await Promise.all(checks.map(runCheck));
  const failing = results.some(({ required, status }) => required && status === 'failing');
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

/**
 * Checks a chain. The chain is not required: without it, only confirmations, refunds and balances
 * do not work.
 */
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
