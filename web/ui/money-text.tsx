import type { ReactNode } from 'react';
import { Amount } from './amount.tsx';
import { formatPrice } from './price.ts';

export interface MoneyProps {
  readonly units: bigint;
  /** What the units are minor units of; `null`: atoms of USDC. */
  readonly currency: string | null;
}

/** A sum that was typed, and that nothing has converted yet. */
export function Money({ units, currency }: MoneyProps): ReactNode {
  if (currency === null) return <Amount atoms={units} />;
  return <span className="amount">{formatPrice({ currency, units })}</span>;
}
