import { decodeFunctionResult, encodeFunctionData } from 'viem';
import { atoms, basisPoints } from '#core/money.ts';
import type { Chain } from '#settlement/chain/chain.ts';
import { decodeView } from '#settlement/chain/rpc/decode-call-answers.ts';
import type { Hex } from '#settlement/chain-requests.ts';
import { lensOf } from '#settlement/contract/lens-address.ts';
import { settlementLensAbi } from '../../../../contracts/artifacts/SettlementLens.ts';

/** The rates that the contract charges a payer on top of a sale, in basis points. */
export interface FeeRates {
  readonly acquirer: number;
  readonly protocol: number;
  readonly cashback: number;
}

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

/** The parts of a sale's cost to its payer, in atoms. */
export interface Charges {
  readonly acquirer: bigint;
  readonly protocol: bigint;
  readonly cashback: bigint;
  /** The amount that leaves the payer's wallet: sale and fees, minus the cashback. */
  readonly pulled: bigint;
}

/** Computes a sale's charges. Each charge is rounded down separately, as in the contract. */
export function chargesOf(amount: bigint, rates: FeeRates): Charges {
  const share = (points: number) => basisPoints(atoms(amount), points);
  const [acquirer, protocol, cashback] = [
    share(rates.acquirer),
    share(rates.protocol),
    share(rates.cashback),
  ];
  return { acquirer, protocol, cashback, pulled: amount + acquirer + protocol - cashback };
}

export function sameRates(a: FeeRates, b: FeeRates): boolean {
  return a.acquirer === b.acquirer && a.protocol === b.protocol && a.cashback === b.cashback;
}
