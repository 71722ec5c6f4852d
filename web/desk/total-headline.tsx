import type { ReactNode } from 'react';
import type { Price } from '../ui/format-price.ts';
import { LargeMoney } from '../ui/large-money.tsx';
import { Sum } from '../ui/sum.tsx';

export type TotalHeadlineProps =
  | { readonly atoms: bigint; readonly price: Price | null }
  | { readonly atoms: null; readonly price: Price };

/** Shows what a customer pays; without its value in USDC if `atoms` is `null`. */
export function TotalHeadline({ atoms, price }: TotalHeadlineProps): ReactNode {
  return atoms === null ? (
    <LargeMoney units={price.units} currency={price.currency} />
  ) : (
    <Sum atoms={atoms} price={price} />
  );
}
