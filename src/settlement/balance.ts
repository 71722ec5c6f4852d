import { decodeFunctionResult, encodeFunctionData } from 'viem';
import { present } from '#core/assert.ts';
import { type Atoms, atoms } from '#core/money.ts';
import type { Chain } from '#settlement/chain.ts';
import type { Hex } from '#settlement/requests.ts';
import { RpcUnavailable } from '#settlement/rpc.ts';
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
  const [answer] = await chain.calls([{ to: chain.config.settlement, data }], head.number);
  if (answer?.ok !== true) throw new RpcUnavailable('the balance could not be read');
  const [wallet, available] = decodeFunctionResult({
    abi: settlementAbi,
    functionName: 'merchantAccount',
    data: answer.data,
  });
  return { available: atoms(available), wallet, blockNumber: head.number, asOf: head.time };
}
