import type { Account } from './account.ts';
import {
  allow,
  type ChainNode,
  type ChainTruth,
  chainNode,
  formatCoin,
  GAS_LIMIT,
  OtherChain,
  readChain,
  readReceipt,
  sendRaw,
} from './chain.ts';
import type { ChainFacts } from './signing.ts';

/** Where the token takes no permits: `approve`, a transaction whose gas this wallet pays. */

const NO_NODE =
  'This network’s USDC needs a transaction from your wallet, and no node can send it: the ' +
  'network names none, and this browser has no wallet extension.';
const OTHER_CHAIN = 'Your browser wallet is on another chain. Switch it and try again.';
const NODE_AWAY = 'The chain’s node did not answer. Nothing has changed: try again.';
const REVERTED = 'The chain did not accept it. Nothing has changed: try again.';
const NOT_YET = 'It was sent and is not in a block yet. Try again in a minute.';

/** A slow chain needs half a minute for two blocks. */
const LOOKS = 40;
const LOOK_MS = 1_500;

/** It says what to tell the person (`problemOf`). */
class NotApproved extends Error {
  override readonly name = 'NotApproved';
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

async function read(node: ChainNode, chain: ChainFacts, address: Account['address']) {
  try {
    return await readChain(node, chain, address);
  } catch (error) {
    throw new NotApproved(error instanceof OtherChain ? OTHER_CHAIN : NODE_AWAY, { cause: error });
  }
}

function requireCoin({ coin, maxFeePerGas }: ChainTruth): void {
  const most = GAS_LIMIT * maxFeePerGas;
  if (coin >= most) return;
  throw new NotApproved(
    'This network’s USDC needs a transaction from your wallet, which pays the gas. It needs ' +
      `${formatCoin(most)} of the chain’s coin and holds ${formatCoin(coin)}. Send it some first.`,
  );
}

/**
 * Allows the contract to take so much in all, unless that is so already. @throws NotApproved
 */
export async function approve(
  account: Account,
  { chain, value }: { readonly chain: ChainFacts; readonly value: bigint },
): Promise<void> {
  const node = chainNode(chain);
  if (node === null) throw new NotApproved(NO_NODE);
  const truth = await read(node, chain, account.address);
  if (truth.allowance === value) return;
  requireCoin(truth);
  const { signTransaction, hashOf } = await import('./account.ts');
  const { nonce, maxFeePerGas } = truth;
  const call = { chainId: chain.chainId, to: chain.usdc, data: allow(chain, value) };
  const raw = await signTransaction(account, { ...call, nonce, gas: GAS_LIMIT, maxFeePerGas });
  // What became of it is read from the chain: the answer may be lost, or the node may have it.
  await sendRaw(node, raw).catch(() => {});
  for (let look = 0; look < LOOKS; look++) {
    const fate = await readReceipt(node, hashOf(raw)).catch(() => null);
    if (fate === 'succeeded') return;
    if (fate === 'reverted') throw new NotApproved(REVERTED);
    await pause(LOOK_MS);
  }
  throw new NotApproved(NOT_YET);
}
