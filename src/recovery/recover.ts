import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { type Loop, startLoop } from '#core/background-loop.ts';
import { failpoint } from '#core/failpoints.ts';
import { lockAllOrders } from '#db/commit-order.ts';
import { describeError } from '#observability/log.ts';
import { giveUpUnpaid } from '#payments/cancel-after-data-loss.ts';
import { beginSeriesAnew } from '#payments/receipt-numbers.ts';
import { followAllWallets } from '#payouts/follow-wallets.ts';
import { readChain } from '#recovery/book-lost-events.ts';
import { endCredentials } from '#recovery/end-credentials.ts';
import { forgetFigures } from '#recovery/lost-queries.ts';
import { awaitLostBytes, raiseNonces, raiseNumbers } from '#recovery/raise-numbers.ts';
import { inRun, RECOVERY_LEASE_MS, type RecoveryDeps } from '#recovery/recovery-lease.ts';
import {
  countRecovered,
  finishRecovery,
  noteEnded,
  RECOVERY_TOPIC,
  RecoveryLost,
  type RecoveryRun,
  takeRecovery,
} from '#settlement/network-recovery-queries.ts';
import { raiseSettlementNumbers } from '#settlement/settlement-numbers.ts';

/** Pause between two steps: short, because taps are refused during a recovery. */
const POLL_MS = 250;

/**
 * Compares a network's ledger with its chain on request, and books what the ledger lacks. Only one
 * process does this at a time. Each step can be repeated, so another process can take over if this
 * one is killed.
 */
export function startRecovery(deps: RecoveryDeps): Pick<Loop, 'stop'> {
  const { chain, db, wakeups, log } = deps;
  const { livemode, network } = chain.config;
  const owner = `${hostname()}:${process.pid}:${randomBytes(4).toString('hex')}`;
  const loop = startLoop({
    name: 'recovery',
    pollMs: POLL_MS,
    onError: (name, error) =>
      log.error(`the ${name} failed`, { network, error: describeError(error) }),
    run: async () => {
      // The ledger is open, so there is nothing to recover. Processes request a recovery only after
      // they have checked the database.
      if (db.watch.serves(livemode)) return false;
      const run = await takeRecovery(db, { livemode, owner, leaseMs: RECOVERY_LEASE_MS });
      if (run === null) return false;
      failpoint('recovery.taken');
      await recover(deps, run).catch((error) => {
        if (!(error instanceof RecoveryLost)) throw error;
      });
      return false;
    },
  });
  const unlisten = wakeups.on(RECOVERY_TOPIC, network, loop.wake);
  return {
    stop: () => {
      unlisten();
      return loop.stop();
    },
  };
}

async function recover(deps: RecoveryDeps, taken: RecoveryRun): Promise<void> {
  const { db, chain, wakeups, clock, log } = deps;
  const { livemode, network } = chain.config;
  await inRun(deps, taken, (tx) => raiseNumbers(tx, livemode));
  failpoint('recovery.numbers_raised');
  await raiseNonces(deps, taken);
  failpoint('recovery.nonces_raised');
  await awaitLostBytes(deps, taken);
  // Renew the claim on the recovery: the nonces may now prove a loss that was only suspected.
  const run = await takeRecovery(db, { ...taken, leaseMs: RECOVERY_LEASE_MS });
  if (run === null) return;
  if (run.loss_shown) {
    const lost = { livemode, before: run.started, now: clock.now() };
    await inRun(deps, run, async (tx) => {
      await lockAllOrders(tx, livemode);
      await beginSeriesAnew(tx, lost);
    });
  }
  const comparedBlock = await readChain(deps, run);
  await followAllWallets(deps, chain, () => inRun(deps, run, async () => {}));
  await inRun(deps, run, (tx) => raiseSettlementNumbers(tx, livemode));
  if (run.loss_shown) await giveUp(deps, run);
  const finished = await inRun(deps, run, async (tx) => {
    await forgetFigures(tx, livemode);
    const { clusterId } = tx.watch;
    if (clusterId === null) return false;
    return finishRecovery(tx, run, { clusterId, comparedBlock, now: clock.now() });
  });
  if (!finished) return;
  failpoint('recovery.finished');
  log.warn('the ledger matches the chain again', { network, lossShown: run.loss_shown });
  wakeups.send(RECOVERY_TOPIC, network);
  wakeups.send('deliveries');
}

/**
 * Cancels the unpaid intents of the lost period, then ends every credential that may have been used
 * or ended in it.
 */
async function giveUp(deps: RecoveryDeps, run: RecoveryRun): Promise<void> {
  const { chain, clock, wakeups } = deps;
  const { livemode } = chain.config;
  for (;;) {
    const overdue = { livemode, before: run.started, now: clock.now() };
    const intents = await inRun(deps, run, async (tx) => {
      const done = await giveUpUnpaid(tx, overdue);
      const oldest = done.reduce<Date | null>(
        (least, { created }) => (least === null || created < least ? created : least),
        null,
      );
      await countRecovered(tx, livemode, { canceled: done.length, oldest });
      return done;
    });
    failpoint('recovery.unpaid_given_up');
    for (const { id } of intents) wakeups.send('intent', id);
    if (intents.length === 0) break;
  }
  await inRun(deps, run, async (tx) => {
    const which = { livemode, before: run.started, now: clock.now() };
    await noteEnded(tx, livemode, await endCredentials(tx, which));
  });
  failpoint('recovery.credentials_ended');
}
