import { RpcUnavailable } from '#settlement/chain/rpc.ts';
import { stopIfShown } from '#settlement/relayer/lanes/foreign-key.ts';
import { feesNow } from '#settlement/relayer/machine/chain-view.ts';
import type { HeldLane, RelayerState } from '#settlement/relayer/machine/state.ts';
import { inLane } from '#settlement/relayer/rows/lane-queries.ts';
import {
  insertAttempt,
  insertFiller,
  reopenFromNonce,
  selectNonces,
  upsertUnsigned,
} from '#settlement/relayer/rows/transaction-queries.ts';
import { NOOP_GAS_LIMIT } from '#settlement/relayer/send/plan.ts';
import { noop, signAttempt } from '#settlement/relayer/send/sign.ts';
import type { Hex } from '#settlement/requests.ts';

/**
 * Makes a lane and the chain agree on the next nonce. The chain is ahead, and the database has lost
 * nothing, or the guard would have closed the network: somebody else has the key. The lane stops
 * when nodes show what they did with it. The chain is behind: it lost blocks; what we stored from
 * there on is sent again, and a nonce for which we have nothing is filled, because otherwise
 * nothing after it could ever be mined.
 * @returns whether the lane can be worked on.
 */
export async function catchUpNonce(
  relayer: RelayerState,
  lane: HeldLane,
  nextNonce: bigint,
): Promise<boolean> {
  if (lane.isStopped) return true;
  const at = relayer.head?.number ?? 'latest';
  const [told = nextNonce] = await relayer.chain.nonces([lane.address], at);
  const chainNonce = await surestNonce(relayer, lane, { told, known: nextNonce });
  if (chainNonce > nextNonce) return stopIfShown(relayer, lane, { nextNonce, chainNonce });
  if (chainNonce < nextNonce) await fillGap(relayer, lane, chainNonce, nextNonce);
  return true;
}

/** Every nonce from `from` up to `to` gets a signed transaction again. */
export async function fillGap(
  relayer: RelayerState,
  lane: HeldLane,
  from: bigint,
  to: bigint,
): Promise<void> {
  const { livemode, network } = relayer.chain.config;
  await inLane(relayer, lane, async (tx) => {
    const reopened = await reopenFromNonce(tx, { livemode, lane: lane.lane, nonce: from });
    const stored = new Set(await selectNonces(tx, { livemode, lane: lane.lane, from, to }));
    let filled = 0;
    for (let nonce = from; nonce < to; nonce++) {
      if (stored.has(nonce)) continue;
      await storeFiller(tx, relayer, lane, nonce);
      filled++;
    }
    if (reopened + filled === 0) return;
    const fields = { network, lane: lane.lane, from, reopened, filled };
    relayer.log.warn('the chain is behind a lane: sending again', fields);
  });
}

/**
 * The lane's nonce on the chain. Where a node reports fewer than we `know`, it is the highest that
 * any address of this chain reports, up to that: a node that lags, or has become one of another
 * chain, must not reopen what has long been final.
 * @throws RpcUnavailable: no address of this chain answers any more.
 */
export async function surestNonce(
  { chain }: RelayerState,
  lane: HeldLane,
  { told, known }: { readonly told: bigint; readonly known: bigint },
): Promise<bigint> {
  if (told >= known) return told;
  await chain.rpc.confirmChain();
  const call = { method: 'eth_getTransactionCount', params: [lane.address, 'latest'] };
  const asked = chain.rpc.inOrder().map((address) => address.ask([call], { urgent: false }));
  let highest: bigint | null = null;
  for (const reply of (await Promise.all(asked)).flat()) {
    if (reply.status !== 'answered') continue;
    const nonce = BigInt(reply.result as Hex);
    if (highest === null || nonce > highest) highest = nonce;
  }
  if (highest === null) throw new RpcUnavailable('no node tells the nonce of a lane');
  return highest < known ? highest : known;
}

type LaneTx = Parameters<typeof insertFiller>[0];

async function storeFiller(
  tx: LaneTx,
  relayer: RelayerState,
  lane: HeldLane,
  nonce: bigint,
): Promise<void> {
  const { chain, clock } = relayer;
  const { livemode, chainId } = chain.config;
  const where = { livemode, lane: lane.lane, nonce, target: lane.address };
  const id = await insertFiller(tx, { ...where, gasLimit: NOOP_GAS_LIMIT }, clock.now());
  const fees = feesNow(relayer);
  // The caller reads the row again, and asks for its bytes.
  if (lane.signsElsewhere) return upsertUnsigned(tx, id, { noop: true, fees }, clock.now());
  const attempt = await signAttempt(lane.account, noop(lane, { nonce, chainId, fees }), true);
  await insertAttempt(tx, id, attempt, clock.now());
}
