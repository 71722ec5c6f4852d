import { setTimeout as sleep } from 'node:timers/promises';
import { addMs } from '#core/clock.ts';
import { inRun, type RecoveryDeps } from '#recovery/run.ts';
import type { RecoveryRun } from '#settlement/network-recovery-queries.ts';
import { raiseNextNonce, selectLanes } from '#settlement/relayer/lane-queries.ts';
import { insertAlarms } from '#settlement/relayer/outcome-queries.ts';

/** How often a node is asked whether it still holds bytes that we do not have. */
const LOOK_MS = 500;
/**
 * No bytes of a payment are good for longer: SETTLE_WITHIN is at most this. The present setting is
 * no measure, because the lost bytes were signed under the one of their time.
 */
const LONGEST_SETTLEMENT_MS = 600_000;

/**
 * New transactions go behind every nonce that the chain knows. What was mined at the others is read
 * from the chain.
 */
export async function raiseNonces(deps: RecoveryDeps, run: RecoveryRun): Promise<void> {
  const { chain, db, clock } = deps;
  const { livemode } = chain.config;
  const lanes = await selectLanes(db, livemode);
  const used = await chain.nonces(lanes.map(({ address }) => address));
  await inRun(deps, run, async (tx) => {
    for (const [index, { lane, next_nonce: nextNonce }] of lanes.entries()) {
      const chainNonce = used[index] ?? 0n;
      if (chainNonce <= nextNonce) continue;
      const details = { chainNonce, nextNonce };
      const alarm = { kind: 'nonce_ahead', subject: `lane ${lane}`, details };
      await raiseNextNonce(tx, { livemode, lane, nextNonce: chainNonce });
      await insertAlarms(tx, livemode, [alarm], clock.now());
    }
  });
}

/**
 * Waits while a node still holds bytes that the ledger has lost: they may be mined yet, and what
 * they pay has to be booked before anything new is taken. Bytes of payments are good for minutes.
 */
export async function awaitLostBytes(deps: RecoveryDeps, run: RecoveryRun): Promise<void> {
  const { chain, db, clock } = deps;
  const { livemode } = chain.config;
  const until = addMs(run.started, LONGEST_SETTLEMENT_MS);
  while (clock.now() < until) {
    const lanes = await selectLanes(db, livemode);
    const params = lanes.map(({ address }) => [address, 'pending'] as const);
    const answers = await chain.rpc.batch(
      params.map((one) => ({ method: 'eth_getTransactionCount', params: [...one] })),
    );
    const held = lanes.some(({ next_nonce: nextNonce }, index) => {
      const answer = answers[index];
      return answer?.ok === true && BigInt(String(answer.result)) > nextNonce;
    });
    if (!held) return;
    await sleep(LOOK_MS);
    await raiseNonces(deps, run);
  }
}
