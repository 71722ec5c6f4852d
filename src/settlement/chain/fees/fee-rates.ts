import { decodeFunctionResult, encodeFunctionData } from 'viem';
import type { FeeRates } from '#core/charges.ts';
import type { Network } from '#core/mode.ts';
import type { Chain } from '#settlement/chain/chain.ts';
import { decodeView } from '#settlement/chain/rpc/decode-call-answers.ts';
import type { Hex } from '#settlement/chain-requests.ts';
import { lensOf } from '#settlement/contract/lens-address.ts';
import { contractsOf } from '#settlement/contract-versions.ts';
import { settlementLensAbi } from '../../../../contracts/artifacts/SettlementLens.ts';

/** The number of words of the contract's `Rates`. */
export const RATES_WORDS = 3;

export function ratesCall(): Hex {
  return encodeFunctionData({ abi: settlementLensAbi, functionName: 'rates' });
}

export function readRates(data: Hex): FeeRates {
  return decodeFunctionResult({ abi: settlementLensAbi, functionName: 'rates', data });
}

/**
 * Reads a contract's fee rates; by default, those of the network's current contract.
 * @throws RpcUnavailable
 */
export async function readFeeRates(
  chain: Chain,
  settlement: Hex = chain.config.settlement,
): Promise<FeeRates> {
  const to = lensOf(settlement);
  const [answer] = await chain.calls([{ to, data: ratesCall(), words: RATES_WORDS }]);
  return decodeView(answer, readRates);
}

export function sameRates(a: FeeRates, b: FeeRates): boolean {
  return a.acquirer === b.acquirer && a.protocol === b.protocol && a.cashback === b.cashback;
}

/** The fee rates of each network's contracts, as this process has read them last. */
const KNOWN: Record<Network, readonly FeeRates[]> = { testnet: [], mainnet: [] };

/** Reads the fee rates of all contracts of a network, for {@link knownRates}. */
export async function learnRates(chain: Chain): Promise<void> {
  const contracts = contractsOf(chain.config);
  KNOWN[chain.config.network] = await Promise.all(
    contracts.map(({ settlement }) => readFeeRates(chain, settlement)),
  );
}

/**
 * Returns a network's fee rates without asking a node; `null` while this process does not know
 * them, or if its contracts charge different rates.
 */
export function knownRates(network: Network): FeeRates | null {
  const [first, ...others] = KNOWN[network];
  return first !== undefined && others.every((one) => sameRates(first, one)) ? first : null;
}
