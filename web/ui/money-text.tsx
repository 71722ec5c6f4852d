import type { ReactNode } from 'react';
import { Amount } from './amount.tsx';
import { formatMoney, formatPrice } from './price.ts';
import { sumClass } from './sum.tsx';

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

/** The same, as large as its digits allow. */
export function LargeMoney({ units, currency }: MoneyProps): ReactNode {
  return (
    <p className={sumClass(formatMoney(units, currency))}>
      <Money units={units} currency={currency} />
    </p>
  );
}
