import { decodeFunctionResult, encodeFunctionData, parseAbi } from 'viem';
import type { Chain } from '#settlement/chain/chain.ts';

/** OP Stack's predeploy: what publishing a transaction of so many bytes on Ethereum costs. */
const ORACLE = '0x420000000000000000000000000000000000000f';
const ORACLE_ABI = parseAbi(['function getL1FeeUpperBound(uint256) view returns (uint256)']);
/** It follows Ethereum's fees, which do not change more within a minute than our reserve holds. */
const FRESH_MS = 60_000;

/**
 * Wei for publishing transactions of these sizes, where the chain of this profile asks for that. A
 * contract that does not answer so costs nothing: balances are then told without it.
 */
export async function dataFees(chain: Chain, sizes: readonly number[]): Promise<bigint[]> {
  if (!chain.config.profile.hasL1Fee) return sizes.map(() => 0n);
  return chain.remember(`data fees of ${sizes.join()}`, FRESH_MS, async () => {
    const answers = await chain.calls(
      sizes.map((size) => {
        const data = encodeFunctionData({ abi: ORACLE_ABI, args: [BigInt(size)] });
        return { to: ORACLE, data, words: 'any' };
      }),
    );
    return answers.map((answer) => {
      if (!answer.ok || answer.data.length !== WORD_LENGTH) return 0n;
      return decodeFunctionResult({ abi: ORACLE_ABI, data: answer.data });
    });
  });
}

/** `0x` and 32 bytes. */
const WORD_LENGTH = 66;
