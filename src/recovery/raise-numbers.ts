import { setTimeout as sleep } from 'node:timers/promises';
import { addMs } from '#core/clock.ts';
import { raisePlaces } from '#db/commit-order.ts';
import type { Sql } from '#db/database.ts';
import { inRun, type RecoveryDeps } from '#recovery/recovery-lease.ts';
import { insertAlarms } from '#settlement/alarms.ts';
import { type RecoveryRun, updateRecovery } from '#settlement/network-recovery-queries.ts';
import { raiseNextNonce, selectSenders } from '#settlement/sender-rows.ts';
import { raiseSettlementNumbers } from '#settlement/settlement-numbers.ts';

/**
 * Raises the settlement numbers (by 2^32, `settlement-numbers.ts`) and the positions of events (by
 * 2^20, `commit-order.ts`) above all that a lost period may have used.
 */
export async function raiseNumbers(sql: Sql, livemode: boolean): Promise<void> {
  await raiseSettlementNumbers(sql, livemode);
  await raisePlaces(sql, livemode);
}

/** The interval at which nodes are polled for transactions that the ledger has lost. */
const LOOK_MS = 500;
/**
 * The maximum of SETTLEMENT_TIMEOUT_SECONDS, and so of any signed payment's validity. The current
 * setting does not count, because the lost transactions may have been signed under another one.
 */
const LONGEST_SETTLEMENT_MS = 600_000;

/**
 * True if a nonce that only the chain knows means a loss. If the database is the same as at the
 * last recovery, the nonce means that the keys were used outside this service.
 */
function mayLackNonces({ db }: Pick<RecoveryDeps, 'db'>, run: RecoveryRun): boolean {
  const { clusterId } = run;
  return run.loss_shown || (clusterId !== null && clusterId !== db.watch.clusterId);
}

/**
 * Raises each sender's next nonce above all nonces that the chain knows. Mined transactions with
 * lower nonces are read from the chain.
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
      await updateRecovery(tx, livemode, { loss_shown: true });
      await insertAlarms(tx, livemode, [alarm], clock.now());
    }
  });
}

/**
 * Waits while a node still holds a lost transaction: it may be mined, and its payments must be
 * booked before new work is accepted. A payment's transaction is valid for minutes.
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
