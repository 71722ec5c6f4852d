import { t } from '../ui/text/t.ts';
import type { Account } from './private-key-account.ts';
import type { ChainFacts } from './sign-permit-and-transfer.ts';
import {
  allow,
  type ChainNode,
  type ChainTruth,
  chainNode,
  GAS_LIMIT,
  OtherChain,
  readableCoin,
  readChain,
  readReceipt,
  sendRaw,
} from './wallet-chain-node.ts';

/** For tokens without permits: sends `approve`, a transaction whose gas this wallet pays. */

/** Number of polls: on a slow chain, two blocks may take half a minute. */
const LOOKS = 40;
const LOOK_MS = 1_500;

/** An error whose message is shown to the user (`problemOf`). */
class NotApproved extends Error {
  override readonly name = 'NotApproved';
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

async function read(node: ChainNode, chain: ChainFacts, address: Account['address']) {
  try {
    return await readChain(node, chain, address);
  } catch (error) {
    throw new NotApproved(
      t(
        error instanceof OtherChain
          ? 'wallet.problem.other_chain'
          : 'wallet.allow.problem.node_silent',
      ),
      {
        cause: error,
      },
    );
  }
}

function requireCoin({ coin, maxFeePerGas }: ChainTruth): void {
  const most = GAS_LIMIT * maxFeePerGas;
  if (coin >= most) return;
  throw new NotApproved(
    t('wallet.allow.problem.gas', { needed: readableCoin(most), has: readableCoin(coin) }),
  );
}

/** Approves this total for the contract, unless it is already approved. @throws NotApproved */
export async function approve(
  account: Account,
  { chain, value }: { readonly chain: ChainFacts; readonly value: bigint },
): Promise<void> {
  const node = chainNode(chain);
  if (node === null) throw new NotApproved(t('wallet.allow.problem.no_node'));
  const truth = await read(node, chain, account.address);
  if (truth.allowance === value) return;
  requireCoin(truth);
  const { signTransaction, hashOf } = await import('./private-key-account.ts');
  const { nonce, maxFeePerGas } = truth;
  const call = { chainId: chain.chainId, to: chain.usdc, data: allow(chain, value) };
  const raw = await signTransaction(account, { ...call, nonce, gas: GAS_LIMIT, maxFeePerGas });
  // An error may mean a lost response, or a node that already has the transaction, so the chain
  // decides.
  await sendRaw(node, raw).catch(() => {});
  for (let look = 0; look < LOOKS; look++) {
    const fate = await readReceipt(node, hashOf(raw)).catch(() => null);
    if (fate === 'succeeded') return;
    if (fate === 'reverted') throw new NotApproved(t('wallet.allow.problem.failed'));
    await pause(LOOK_MS);
  }
  throw new NotApproved(t('wallet.allow.problem.not_in_block'));
}
