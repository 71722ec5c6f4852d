import './outcome.css';
import type { ReactNode } from 'react';
import { Amount } from './amount.tsx';
import type { Price } from './format-price.ts';
import { formatAtoms } from './format-usdc.ts';

/** Length of `9,999.99`, the longest amount that a small phone shows at full size. */
const LONGEST = 8;

/** Returns the CSS class with the largest size at which these digits fit. */
export function sumClass(digits: string): string {
  return digits.length > LONGEST ? 'sum sum-long' : 'sum';
}

export interface SumProps {
  readonly atoms: bigint;
  /** The price in the shop's currency; `null` for a sale in USDC. */
  readonly price?: Price | null;
}

export function Sum({ atoms, price = null }: SumProps): ReactNode {
  return (
    <p className={sumClass(price === null ? formatAtoms(atoms) : `€0.${price.units}`)}>
      <Amount atoms={atoms} price={price} />
    </p>
  );
}
