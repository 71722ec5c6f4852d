import { setTimeout as sleep } from 'node:timers/promises';
import { addMs } from '#core/clock.ts';
import { inRun, type RecoveryDeps } from '#recovery/run.ts';
import { insertAlarms } from '#settlement/alarms.ts';
import { type RecoveryRun, showLoss } from '#settlement/network-recovery-queries.ts';
import { raiseNextNonce, selectSenders } from '#settlement/senders.ts';

/** How often a node is asked whether it still holds bytes that we do not have. */
const LOOK_MS = 500;
/**
 * No bytes of a payment are valid for longer: SETTLEMENT_TIMEOUT_SECONDS is at most this. The
 * present setting does not help, because the lost bytes were signed under an earlier one.
 */
const LONGEST_SETTLEMENT_MS = 600_000;

/**
 * Whether nonces that the chain knows and the ledger does not show a loss. Where the database is
 * still the one that the last recovery was done for, somebody else has the keys.
 */
function mayLackNonces({ db }: Pick<RecoveryDeps, 'db'>, run: RecoveryRun): boolean {
  const { clusterId } = run;
  return run.loss_shown || (clusterId !== null && clusterId !== db.watch.clusterId);
}

/**
 * New transactions take nonces above all that the chain knows. What was mined at those is read from
 * the chain.
 */
export async function raiseNonces(deps: RecoveryDeps, run: RecoveryRun): Promise<void> {
  const { chain, db, clock } = deps;
  const { livemode } = chain.config;
  if (!mayLackNonces(deps, run)) return;
  const senders = (await selectSenders(db, livemode)).filter((sender) => !sender.stopped);
  const used = await chain.nonces(senders.map(({ address }) => address));
  await inRun(deps, run, async (tx) => {
    for (const [index, { sender, next_nonce: nextNonce }] of senders.entries()) {
      const chainNonce = used[index] ?? 0n;
      if (chainNonce <= nextNonce) continue;
      const details = { chainNonce, nextNonce };
      const alarm = { kind: 'nonce_ahead', subject: `sender ${sender}`, details };
      await raiseNextNonce(tx, { livemode, sender, nextNonce: chainNonce });
      await showLoss(tx, livemode);
      await insertAlarms(tx, livemode, [alarm], clock.now());
    }
  });
}

/**
 * Waits while a node still holds bytes that the ledger has lost: they may still be mined, and what
 * they pay has to be booked before anything new is accepted. Bytes of payments are valid for
 * minutes.
 */
export async function awaitLostBytes(deps: RecoveryDeps, run: RecoveryRun): Promise<void> {
  const { chain, db, clock } = deps;
  const { livemode } = chain.config;
  if (!mayLackNonces(deps, run)) return;
  const until = addMs(run.started, LONGEST_SETTLEMENT_MS);
  while (clock.now() < until) {
    const senders = (await selectSenders(db, livemode)).filter((sender) => !sender.stopped);
    const params = senders.map(({ address }) => [address, 'pending'] as const);
    const answers = await chain.rpc.batch(
      params.map((one) => ({ method: 'eth_getTransactionCount', params: [...one] })),
    );
    const held = senders.some(({ next_nonce: nextNonce }, index) => {
      const answer = answers[index];
      return answer?.ok === true && BigInt(String(answer.result)) > nextNonce;
    });
    if (!held) return;
    await sleep(LOOK_MS);
    await raiseNonces(deps, run);
  }
}
