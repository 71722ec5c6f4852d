import { decodeFunctionResult, encodeFunctionData, parseAbi } from 'viem';
import type { Chain } from '#settlement/chain/chain.ts';

/** The contract of OP Stack chains that prices the publication of transactions on Ethereum. */
const ORACLE = '0x420000000000000000000000000000000000000f';
const ORACLE_ABI = parseAbi(['function getL1FeeUpperBound(uint256) view returns (uint256)']);
/**
 * A price is reused for this long. It follows Ethereum's fees, and the senders' reserve covers its
 * changes within a minute.
 */
const FRESH_MS = 60_000;

/**
 * Returns the cost, in wei, of publishing transactions of these sizes, on chains that charge for
 * publication. If the oracle does not answer, the cost counts as zero.
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

/** Length of `0x` and 32 bytes in hex. */
const WORD_LENGTH = 66;
