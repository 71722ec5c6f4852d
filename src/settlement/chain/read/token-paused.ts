import { encodeFunctionData } from 'viem';
import type { Chain } from '#settlement/chain/chain.ts';
import type { Hex } from '#settlement/chain-requests.ts';
import { testUsdcAbi } from '../../../../contracts/artifacts/TestUSDC.ts';

/**
 * True if the token currently cannot be transferred to the contract, because its issuer has paused
 * all transfers or blocks the contract. False for a token without these functions.
 * @throws RpcUnavailable
 */
export async function isTokenStopped(chain: Chain, settlement: Hex): Promise<boolean> {
  const { usdc: to } = chain.config;
  const paused = encodeFunctionData({ abi: testUsdcAbi, functionName: 'paused' });
  const blocked = encodeFunctionData({
    abi: testUsdcAbi,
    functionName: 'isBlacklisted',
    args: [settlement],
  });
  const calls = [paused, blocked].map((data) => ({ to, data, words: 1 }));
  const answers = await chain.calls(calls, 'latest', { urgent: true });
  return answers.some((answer) => answer.ok && answer.data !== '0x' && BigInt(answer.data) !== 0n);
}
