import { decodeFunctionResult, encodeFunctionData } from 'viem';
import type { Chain } from '#settlement/chain/chain.ts';
import { decodeView } from '#settlement/chain/rpc/decode-call-answers.ts';
import { contractOf } from '#settlement/contract-versions.ts';
import { settlementAbi } from '../../../../contracts/artifacts/Settlement.ts';

/**
 * Reads how many seconds a merchant's contract delays a new wallet.
 * @throws RpcUnavailable
 */
export async function readWalletDelay(chain: Chain, merchantNumber: bigint): Promise<number> {
  const call = { abi: settlementAbi, functionName: 'WALLET_DELAY' } as const;
  const request = { to: contractOf(chain.config, merchantNumber), data: encodeFunctionData(call) };
  const [answer] = await chain.calls([{ ...request, words: 1 }]);
  return decodeView(answer, (data) => decodeFunctionResult({ ...call, data }));
}
