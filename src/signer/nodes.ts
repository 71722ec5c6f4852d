import { createPublicClient, http } from 'viem';
import type { Hex } from '#settlement/requests.ts';

/** With the key's own program, below the caller's time-out (`settlement/signer.ts`). */
const TIMEOUT_MS = 2_000;
/** One node alone may lie, or show a chain that others do not see. */
const LEAST_ANSWERS = 2;

/** Asked only where what was signed says too little about the next nonce. */
export type UsedNonces = () => Promise<number>;

/**
 * How many nonces of an account are in a block: the smallest of what the nodes say.
 * @throws unless two of them answer, for this chain.
 */
export function usedNoncesAt(
  nodes: readonly string[],
  { address, chainId }: { readonly address: Hex; readonly chainId: number },
): UsedNonces {
  const clients = nodes.map((url) =>
    createPublicClient({ transport: http(url, { timeout: TIMEOUT_MS, retryCount: 0 }) }),
  );
  return async () => {
    const answers = await Promise.allSettled(
      clients.map(async (client) => {
        const [chain, count] = await Promise.all([
          client.getChainId(),
          client.getTransactionCount({ address, blockTag: 'latest' }),
        ]);
        if (chain !== chainId) throw new Error(`a node is at chain ${chain}, not ${chainId}`);
        return count;
      }),
    );
    const counts = answers.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    if (counts.length >= LEAST_ANSWERS) return Math.min(...counts);
    throw new Error(`${counts.length} of ${nodes.length} nodes say how many nonces are used`);
  };
}
