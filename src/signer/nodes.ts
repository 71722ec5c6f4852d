import { createPublicClient, http } from 'viem';
import type { Hex } from '#settlement/requests.ts';

/** Together with the key's own program, below the caller's time-out (`settlement/signer.ts`). */
const TIMEOUT_MS = 2_000;
/** A single node may lie, or be on a fork. */
const LEAST_ANSWERS = 2;

/** Called only if the signed nonces do not determine the next one. */
export type UsedNonces = () => Promise<number>;

/**
 * The number of an account's nonces that are in blocks: the smallest of the nodes' answers.
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
        if (chain !== chainId) throw new Error(`a node is on chain ${chain}, not ${chainId}`);
        return count;
      }),
    );
    const counts = answers.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    if (counts.length >= LEAST_ANSWERS) return Math.min(...counts);
    throw new Error(
      `only ${counts.length} of ${nodes.length} nodes returned how many nonces are used`,
    );
  };
}
