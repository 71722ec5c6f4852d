import type { ReactNode } from 'react';
import { Amount } from '../../ui/amount.tsx';
import type { Price } from '../../ui/format-price.ts';
import { rich } from '../../ui/text/tagged-text.ts';
import { Money } from '../../ui/typed-money.tsx';
import { RowLink } from './object-link.tsx';

export interface SaleSumProps {
  readonly id: string;
  /** What the customer pays; `null` if only its price is known. */
  readonly atoms: bigint | null;
  /** The tip in atoms, which the amount includes. */
  readonly tip?: number | null;
  /** The amount in the shop's currency; `null` for a sale in USDC. */
  readonly price: Price | null;
  /** The tip that `price` includes. */
  readonly tipPrice?: Price | null;
}

export function SaleSum({
  id,
  atoms,
  tip = null,
  price,
  tipPrice = null,
}: SaleSumProps): ReactNode {
  return (
    <>
      <RowLink id={id}>
        {atoms === null && price !== null ? (
          <Money {...price} />
        ) : (
          <Amount atoms={atoms ?? 0n} price={price && { ...price, rate: null }} still />
        )}
      </RowLink>
      {tip === null || tip === 0 ? null : (
        <span className="sale-tip">
          {rich('dashboard.sale_sum.with_tip', {
            sum: () => <Amount atoms={BigInt(tip)} price={tipPrice} unit={false} still />,
          })}
        </span>
      )}
    </>
  );
}
