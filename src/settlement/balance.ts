import { decodeFunctionResult, encodeFunctionData } from 'viem';
import { present } from '#core/assert.ts';
import { type Atoms, atoms } from '#core/money.ts';
import { type Chain, decodeView } from '#settlement/chain.ts';
import type { Hex } from '#settlement/requests.ts';
import { settlementAbi } from '../../contracts/artifacts/Settlement.ts';

export interface MerchantBalance {
  readonly available: Atoms;
  /** The registered settlement wallet. */
  readonly wallet: Hex;
  readonly blockNumber: bigint;
  /** The time of the block that it was read at. */
  readonly asOf: Date;
}

/** A merchant's balance in the settlement contract at the newest block. @throws RpcUnavailable */
export async function readMerchantBalance(
  chain: Chain,
  merchantNumber: bigint,
): Promise<MerchantBalance> {
  const block = await chain.block('latest');
  const head = present(block, 'newest block');
  const data = encodeFunctionData({
    abi: settlementAbi,
    functionName: 'merchantAccount',
    args: [Number(merchantNumber)],
  });
  const call = { to: chain.config.settlement, data, words: 2 };
  const [answer] = await chain.calls([call], head.number);
  const [wallet, available] = decodeView(answer, (returned) =>
    decodeFunctionResult({
      abi: settlementAbi,
      functionName: 'merchantAccount',
      data: returned,
    }),
  );
  return { available: atoms(available), wallet, blockNumber: head.number, asOf: head.time };
}
