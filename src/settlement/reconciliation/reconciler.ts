import { describeError } from '#core/log.ts';
import { type Loop, startLoop } from '#core/loop.ts';
import type { Wakeups } from '#db/wakeups.ts';
import { type Alarm, insertAlarms } from '#settlement/alarms.ts';
import {
  RECOVERY_TOPIC,
  requestRecovery,
  selectUnknownHere,
} from '#settlement/network-recovery-queries.ts';
import { type ReconcileDeps, reconcileOnce } from '#settlement/reconciliation/reconcile.ts';
import { selectLastRun } from '#settlement/reconciliation/reconcile-queries.ts';

type ReconcilerDeps = ReconcileDeps & {
  readonly wakeups: Wakeups;
  /** Updates the merchants' rows from the contract's wallets. Optional. */
  readonly followWallets?: () => Promise<void>;
};

/** Interval between runs: short enough to limit damage, long enough to be cheap. */
const EVERY_MS = 60_000;
/**
 * How often a worker checks if a run is due. More often than a run, so that another worker soon
 * takes over from a killed one.
 */
const LOOK_MS = 15_000;
/**
 * Runs per comparison of the contract's tokens, about one an hour, because it costs two calls, and
 * a free plan allows few.
 */
const TOKENS_EVERY = 60;

/**
 * Requests a recovery to book what the chain has paid and the ledger lacks, but only once: what a
 * recovery did not book is left to operators.
 */
export async function askIfUnknown(
  deps: Pick<ReconcilerDeps, 'db' | 'chain' | 'clock' | 'wakeups' | 'log'>,
): Promise<void> {
  const { db, chain, clock, wakeups, log } = deps;
  const { livemode, network } = chain.config;
  const { count, uncured } = await selectUnknownHere(db, livemode);
  const alarms: Alarm[] = uncured.map(({ subject, details }) => {
    return { kind: 'not_recovered', subject, details };
  });
  await db.transaction((tx) => insertAlarms(tx, livemode, alarms, clock.now()));
  const unknown = count - uncured.length;
  if (unknown === 0) return;
  const wish = {
    livemode,
    requestCount: null,
    reason: 'reconciliation',
    lossShown: false,
  } as const;
  await requestRecovery(db, wish);
  log.warn('the chain has payments that the ledger lacks', { network, unknown });
  wakeups.send(RECOVERY_TOPIC, network);
}

/** Reconciles a network about once a minute, in one of the workers. */
export function startReconciler(deps: ReconcilerDeps): Pick<Loop, 'stop'> {
  const { livemode, network } = deps.chain.config;
  let runs = 0;
  return startLoop({
    name: 'reconciliation',
    pollMs: LOOK_MS,
    onError: (name, error) =>
      deps.log.error(`the ${name} failed`, { network, error: describeError(error) }),
    run: async () => {
      const last = await selectLastRun(deps.db, livemode);
      const now = deps.clock.now().getTime();
      if (last !== null && now - last.getTime() < EVERY_MS) return false;
      // During a recovery, which compares the ledger itself, differences are not reported.
      if (!deps.db.watch.serves(livemode)) return false;
      await reconcileOnce(deps, { tokens: runs % TOKENS_EVERY === 0 });
      await deps.followWallets?.();
      runs++;
      await askIfUnknown(deps);
      return false;
    },
  });
}
