import type { ReactNode } from 'react';
import { formatMoney } from './format-price.ts';
import { sumClass } from './sum.tsx';
import { Money, type MoneyProps } from './typed-money.tsx';

/** Shows a typed amount before its conversion, as large as its digits allow. */
export function LargeMoney({ units, currency }: MoneyProps): ReactNode {
  return (
    <p className={sumClass(formatMoney(units, currency))}>
      <Money units={units} currency={currency} />
    </p>
  );
}
