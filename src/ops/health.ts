import type { Database } from '#db/database.ts';
import type { Chain } from '#settlement/chain/chain.ts';

/** Something that the service needs. */
export interface HealthCheck {
  readonly name: string;
  /** Without it no request can be served: the process takes itself out of the balancer. */
  readonly required: boolean;
  /** Throws when it is not there. */
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

/** A balancer asks every few seconds and does not wait long itself. */
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

/** Whether this process can serve requests now, and if not, why. */
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

/** A balancer asks every few seconds, and each question to a node has its price. */
const CHAIN_FRESH_MS = 15_000;

/** Not required: without a chain everything but confirming, refunding and balances still works. */
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
