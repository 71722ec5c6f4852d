import { encodeFunctionData } from 'viem';
import type { Chain } from '#settlement/chain/chain.ts';
import type { Hex } from '#settlement/chain-requests.ts';
import { testUsdcAbi } from '../../../../contracts/artifacts/TestUSDC.ts';

/** An address that holds no role on any token. */
const ANYBODY: Hex = '0x00000000000000000000000000000000000ab0DE';

/**
 * True if anyone can mint the network's token: TestUSDC, but not Circle's USDC, even on a test
 * network. The result never changes, so it is read only once.
 * @throws RpcUnavailable
 */
export function hasFaucet(chain: Pick<Chain, 'calls' | 'config' | 'remember'>): Promise<boolean> {
  return chain.remember('faucet', Number.POSITIVE_INFINITY, async () => {
    const args = [ANYBODY, 1n] as const;
    const data = encodeFunctionData({ abi: testUsdcAbi, functionName: 'mint', args });
    const [answer] = await chain.calls([
      { from: ANYBODY, to: chain.config.usdc, data, words: 'any' },
    ]);
    return answer?.ok === true;
  });
}

/** Where to get test USDC if the network's token is Circle's. */
export const CIRCLE_FAUCET = 'https://faucet.circle.com';
