import type { Log } from '#observability/log.ts';
import { blocksLasting } from '#settlement/chain/check/timeout-blocks.ts';
import type { Rpc } from '#settlement/chain/rpc/rpc.ts';
import type { Address } from '#settlement/chain/rpc/rpc-address.ts';
import type { NetworkConfig } from '#settlement/network-config.ts';

export interface HeadReport {
  readonly index: number;
  readonly number: bigint;
  /**
   * True if the head has changed since the last comparison; `null` if that comparison did not
   * include this provider.
   */
  readonly hasMoved: boolean | null;
}

/**
 * Heads may differ by this many blocks, because providers rarely have the same head (see
 * `blocksLasting`).
 */
const TOLERANCE = 3;

/**
 * Returns the providers whose head is not trusted. Among three or more, the newest block that at
 * least two have reached is trusted; among two, the head that advances, or else the higher one.
 */
export function staleHeads(
  reports: readonly HeadReport[],
  tolerance: bigint = BigInt(TOLERANCE),
): number[] {
  const reference = referenceOf(reports);
  if (reference === null) return [];
  return reports
    .filter(({ number, hasMoved }) => {
      if (number + tolerance < reference) return true;
      return number > reference + tolerance && hasMoved !== true;
    })
    .map(({ index }) => index);
}

function referenceOf(reports: readonly HeadReport[]): bigint | null {
  const numbers = reports.map(({ number }) => number).sort((a, b) => (a > b ? -1 : 1));
  if (numbers.length > 2) return numbers[1] ?? null;
  const moving = reports.filter(({ hasMoved }) => hasMoved === true);
  if (moving.length === 1) return moving[0]?.number ?? null;
  return numbers[0] ?? null;
}

/**
 * Creates a function that polls the heads of all providers and marks those behind or on a fork as
 * stale, so that others are tried first.
 */
export function createHeadComparison(
  {
    rpc,
    config,
  }: {
    readonly rpc: Rpc;
    readonly config: Pick<NetworkConfig, 'minBlockMs' | 'profile'>;
  },
  log: Log,
): () => Promise<void> {
  const before = new Map<number, bigint>();
  return async () => {
    const addresses = rpc.inOrder();
    if (addresses.length < 2) return;
    const heads = await Promise.all(addresses.map(readNumber));
    const reports = addresses.flatMap(({ index }, position): HeadReport[] => {
      const number = heads[position] ?? null;
      if (number === null) return [];
      const last = before.get(index);
      before.set(index, number);
      return [{ index, number, hasMoved: last === undefined ? null : last !== number }];
    });
    const stale = staleHeads(reports, blocksLasting(config, { blocks: TOLERANCE }));
    for (const address of addresses) {
      const isStale = stale.includes(address.index);
      if (isStale && !address.isStale) {
        const node = { node: address.host, address: address.index + 1 };
        log.warn('a chain node is behind the chain: others are used first', node);
      }
      address.isStale = isStale;
    }
  };
}

async function readNumber(address: Address): Promise<bigint | null> {
  const call = { method: 'eth_blockNumber', params: [] };
  const [reply] = await address.ask([call], { urgent: false });
  return reply?.status === 'answered' ? BigInt(reply.result as string) : null;
}
