import type { ReactNode } from 'react';
import { Amount } from './amount.tsx';
import { formatPrice } from './format-price.ts';

export interface MoneyProps {
  readonly units: bigint;
  /** The currency whose minor units `units` counts; `null` for atoms of USDC. */
  readonly currency: string | null;
}

/** Shows a typed amount before its conversion. */
export function Money({ units, currency }: MoneyProps): ReactNode {
  if (currency === null) return <Amount atoms={units} />;
  return <span className="amount">{formatPrice({ currency, units })}</span>;
}
