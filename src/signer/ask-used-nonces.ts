import { createPublicClient, http } from 'viem';
import { plainFetch } from '#outgoing/plain-fetch.ts';
import type { Hex } from '#settlement/chain-requests.ts';

/**
 * Time limit of a node's answer. Together with the key program's limit, it is shorter than the
 * caller's time-out (`settlement/remote-signer.ts`).
 */
const TIMEOUT_MS = 2_000;
/** Two nodes must answer, because a single one may lie or be on a fork. */
const LEAST_ANSWERS = 2;

/**
 * Asks nodes how many nonces the chain has used. Called only if the signed nonces do not suffice
 * for a decision.
 */
export type UsedNonces = () => Promise<number>;

/**
 * Returns how many nonces of an account are in blocks: the lowest answer of the nodes.
 * @throws if fewer than two nodes of this chain answer.
 */
export function usedNoncesAt(
  nodes: readonly string[],
  { address, chainId }: { readonly address: Hex; readonly chainId: number },
): UsedNonces {
  const clients = nodes.map((url) =>
    createPublicClient({
      transport: http(url, { fetchFn: plainFetch, timeout: TIMEOUT_MS, retryCount: 0 }),
    }),
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
      `only ${counts.length} of ${nodes.length} nodes returned the number of used nonces`,
    );
  };
}
