import { type Loop, startLoop } from '#core/background-loop.ts';
import type { ProcessContext } from '#db/process-context.ts';
import { describeError } from '#observability/log.ts';
import { type Alarm, insertAlarms } from '#settlement/alarms.ts';
import type { Chain } from '#settlement/chain/chain.ts';
import {
  RECOVERY_TOPIC,
  requestRecovery,
  selectUnknownHere,
} from '#settlement/network-recovery-queries.ts';
import type { NoteRulesDeps } from '#settlement/reconciliation/note-contract-changes.ts';
import { reconcileOnce } from '#settlement/reconciliation/reconcile-once.ts';
import { selectCursor } from '#settlement/reconciliation/reconcile-queries.ts';

/** Interval between runs: short enough to limit damage, long enough to be cheap. */
const EVERY_MS = 60_000;
/**
 * Interval at which a worker checks whether a run is due. Shorter than the interval of runs, so
 * that another worker soon replaces one that was killed.
 */
const LOOK_MS = 15_000;
/**
 * The contract's tokens are compared once in this many runs, about once an hour, because the
 * comparison costs two calls and free plans allow only few calls.
 */
const TOKENS_EVERY = 60;

/**
 * Requests a recovery, once, to book settlements that the ledger lacks. Settlements that this
 * recovery does not book are left to operators.
 */
export async function askIfUnknown(
  { db, clock, wakeups, log }: ProcessContext,
  chain: Chain,
): Promise<void> {
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

/**
 * Reconciles a network about once a minute, in one of the workers.
 * @param followWallets updates the merchants' rows from the contract's wallets.
 */
export function startReconciler(
  ctx: ProcessContext,
  deps: NoteRulesDeps,
  followWallets: () => Promise<void>,
): Pick<Loop, 'stop'> {
  const { livemode, network } = deps.chain.config;
  let runs = 0;
  return startLoop({
    name: 'reconciliation',
    pollMs: LOOK_MS,
    onError: (name, error) =>
      deps.log.error(`the ${name} failed`, { network, error: describeError(error) }),
    run: async () => {
      const last = (await selectCursor(deps.db, livemode))?.updated;
      const now = deps.clock.now().getTime();
      if (last !== undefined && now - last.getTime() < EVERY_MS) return false;
      // Do not report differences during a recovery, which compares the ledger itself.
      if (!deps.db.watch.serves(livemode)) return false;
      await reconcileOnce(deps, { tokens: runs % TOKENS_EVERY === 0 });
      await followWallets();
      runs++;
      await askIfUnknown(ctx, deps.chain);
      return false;
    },
  });
}
