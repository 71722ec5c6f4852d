import { type Network, networkOf } from '#core/mode.ts';
import { toJsonAtoms } from '#core/money.ts';
import { describeError } from '#observability/log.ts';
import type { ApiContext } from '#payments/api-context.ts';
import type { Chain } from '#settlement/chain/chain.ts';
import { type Holdings, readHoldings } from '#settlement/chain/read/contract-holdings.ts';
import type { Hex } from '#settlement/chain-requests.ts';
import { contractsOf } from '#settlement/contract-versions.ts';

/**
 * One contract of a network. Sums are in atoms; they are `null` while the chain cannot be reached.
 */
export interface NetworkSolvency {
  readonly network: Network;
  readonly chain_id: number;
  readonly settlement: string;
  readonly usdc: string;
  /** URL of a public node; `null` if the operator has configured none. */
  readonly rpc_url: string | null;
  readonly block_number: number | null;
  readonly as_of: string | null;
  readonly merchants: number | null;
  readonly held: number | null;
  readonly owed_to_merchants: number | null;
  readonly fees: number | null;
  /**
   * Held minus owed, in atoms. Positive after plain transfers to the contract; negative if money is
   * missing.
   */
  readonly surplus: number | null;
}

export interface Solvency {
  readonly object: 'solvency';
  /** One element per contract. While merchants move to a new contract, a network has several. */
  readonly networks: readonly NetworkSolvency[];
}

/** Time for which visitors get the same reading of the chain. */
const KEPT_MS = 10_000;

const UNKNOWN = {
  block_number: null,
  as_of: null,
  merchants: null,
  held: null,
  owed_to_merchants: null,
  fees: null,
  surplus: null,
} as const;

function sumsOf({ blockNumber, asOf, merchants, held, owed, fees }: Holdings) {
  return {
    block_number: Number(blockNumber),
    as_of: asOf.toISOString(),
    merchants,
    held: toJsonAtoms(held),
    owed_to_merchants: toJsonAtoms(owed),
    fees: toJsonAtoms(fees),
    surplus: signedAtoms(held - owed - fees),
  };
}

function signedAtoms(value: bigint): number {
  return value < 0n ? -toJsonAtoms(-value) : toJsonAtoms(value);
}

async function readContract(
  chain: Chain,
  settlement: Hex,
  ctx: ApiContext,
): Promise<NetworkSolvency> {
  const { livemode, chainId, usdc } = chain.config;
  const network = networkOf(livemode);
  const known = {
    ...{ network, chain_id: chainId, settlement, usdc },
    rpc_url: ctx.outside.publicNode(network),
  };
  try {
    return { ...known, ...sumsOf(await readHoldings(chain, { settlement })) };
  } catch (error) {
    ctx.log.warn('the balances of the settlement contracts could not be read', {
      network,
      error: describeError(error),
    });
    return { ...known, ...UNKNOWN };
  }
}

/**
 * Returns a function that reads each contract's balance and debts from the chain, at most once in
 * {@link KEPT_MS}.
 */
export function createSolvencyReader(ctx: ApiContext): () => Promise<Solvency> {
  let kept: { readonly at: number; readonly read: Promise<Solvency> } | null = null;
  const readAll = async (): Promise<Solvency> => {
    const networks = await Promise.all(
      ctx.chains.flatMap((chain) =>
        // The current contract comes first.
        contractsOf(chain.config)
          .toReversed()
          .map(({ settlement }) => readContract(chain, settlement, ctx)),
      ),
    );
    return { object: 'solvency', networks };
  };
  return () => {
    const at = performance.now();
    if (kept === null || at - kept.at > KEPT_MS) kept = { at, read: readAll() };
    return kept.read;
  };
}
