import { describeError } from '#core/log.ts';
import { type Loop, startLoop } from '#core/loop.ts';
import { type ReconcileDeps, reconcileOnce } from '#settlement/reconcile.ts';
import { selectLastRun } from '#settlement/reconcile-queries.ts';

/** Soon enough to stop a day's trouble, rare enough to cost nothing. */
const EVERY_MS = 60_000;
/** Workers look more often than they run, so that one takes over from another that died. */
const LOOK_MS = 15_000;

/** Reconciles one network about once a minute, whichever of the workers gets to it. */
export function startReconciler(deps: ReconcileDeps): Pick<Loop, 'stop'> {
  const { livemode, network } = deps.chain.config;
  return startLoop({
    name: 'reconciliation',
    pollMs: LOOK_MS,
    onError: (name, error) =>
      deps.log.error(`the ${name} failed`, { network, error: describeError(error) }),
    run: async () => {
      const last = await selectLastRun(deps.db, livemode);
      const now = deps.clock.now().getTime();
      if (last !== null && now - last.getTime() < EVERY_MS) return false;
      await reconcileOnce(deps);
      return false;
    },
  });
}
