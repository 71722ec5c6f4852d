import { present } from '#core/assert.ts';
import type { Block } from '#settlement/chain/chain.ts';
import { carryOutAll } from '#settlement/relayer/follow/carry-out.ts';
import { loadOpen } from '#settlement/relayer/lanes/load-open.ts';
import { fillGap, surestNonce } from '#settlement/relayer/lanes/nonces.ts';
import { nowOf } from '#settlement/relayer/machine/now.ts';
import {
  type HeldLane,
  inNonceOrder,
  type Owing,
  type RelayerState,
} from '#settlement/relayer/machine/state.ts';
import { firstEffects, isDue, isOnItsWay } from '#settlement/relayer/machine/step.ts';

/**
 * Takes care of transactions that should have been mined by now. Call it after the receipts of a
 * new head.
 */
export async function tendLanes(relayer: RelayerState, head: Block): Promise<void> {
  relayer.observeAll({ kind: 'head', number: head.number }, head);
  const now = nowOf(relayer, head);
  const due = [...relayer.lanes.values()].filter((lane) =>
    [...lane.open.values()].some((transaction) => isDue(transaction, now)),
  );
  if (due.length === 0) return;
  // At the head that we follow: a node that lags behind would answer with an older nonce.
  const addresses = due.map((lane) => lane.address);
  const nonces = await relayer.chain.nonces(addresses, head.number);
  for (const [index, lane] of due.entries()) {
    await tend(relayer, lane, present(nonces[index], 'nonce of a lane'), head);
  }
}

async function tend(
  relayer: RelayerState,
  lane: HeldLane,
  told: bigint,
  head: Block,
): Promise<void> {
  const known = inNonceOrder(lane)[0]?.nonce ?? told;
  const chainNonce = await surestNonce(relayer, lane, { told, known });
  const now = nowOf(relayer, head);
  const open = inNonceOrder(lane);
  const unused = open.filter(({ nonce }) => nonce >= chainNonce);
  const isOverdue = unused.some((transaction) => !isOnItsWay(transaction, now));
  const owing = open.map((transaction): Owing => {
    const observation =
      transaction.nonce < chainNonce
        ? ({ kind: 'nonce_used' } as const)
        : ({
            kind: 'nonce_unused',
            isNext: transaction.nonce === chainNonce,
            isOverdue,
          } as const);
    return { lane, transaction, effects: lane.observe(transaction, observation, head) };
  });
  const first = unused[0];
  if (isOverdue && first !== undefined && first.nonce > chainNonce) {
    owing.push(...(await closeGap(relayer, lane, { from: chainNonce, to: first.nonce })));
  }
  await carryOutAll(relayer, owing);
}

/** The chain has lost what came before: it is sent again, or its nonces are filled. */
async function closeGap(
  relayer: RelayerState,
  lane: HeldLane,
  { from, to }: { readonly from: bigint; readonly to: bigint },
): Promise<Owing[]> {
  await fillGap(relayer, lane, from, to);
  const known = new Set(lane.open.keys());
  const loaded = (await loadOpen(relayer, lane)).filter(({ nonce }) => !known.has(nonce));
  relayer.observeAll({ kind: 'ask_again' });
  return loaded.map((transaction) => ({ lane, transaction, effects: firstEffects(transaction) }));
}
