import { atoms, basisPoints } from './money.ts';

/** The rates that the contract charges a payer on top of a sale, in basis points. */
export interface FeeRates {
  readonly acquirer: number;
  readonly protocol: number;
  readonly cashback: number;
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
