import { decodeFunctionResult, encodeFunctionData } from 'viem';
import { type Chain, decodeView } from '#settlement/chain/chain.ts';
import { settlementAbi } from '../../../contracts/artifacts/Settlement.ts';

/** Seconds that a new settlement wallet waits; the contract's own. @throws RpcUnavailable */
export async function readWalletDelay(chain: Chain): Promise<number> {
  const call = { abi: settlementAbi, functionName: 'WALLET_DELAY' } as const;
  const request = { to: chain.config.settlement, data: encodeFunctionData(call) };
  const [answer] = await chain.calls([{ ...request, words: 1 }]);
  return decodeView(answer, (data) => decodeFunctionResult({ ...call, data }));
}
