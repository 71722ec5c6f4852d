import type { ReactNode } from 'react';
import { Money, type MoneyProps } from './money-text.tsx';
import { formatMoney } from './price.ts';
import { sumClass } from './sum.tsx';

/** Shows a typed amount before its conversion, as large as its digits allow. */
export function LargeMoney({ units, currency }: MoneyProps): ReactNode {
  return (
    <p className={sumClass(formatMoney(units, currency))}>
      <Money units={units} currency={currency} />
    </p>
  );
}
