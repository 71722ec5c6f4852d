import type { ReactNode } from 'react';
import { Amount } from './amount.tsx';
import type { SaleTotal } from './sale-total.ts';
import { Sum } from './sum.tsx';
import { t } from './text/t.ts';

/** Shows what a customer pays, as large as its digits allow, and the service fee in it. */
export function Total({ total, fee }: SaleTotal): ReactNode {
  return (
    <>
      <p>{t('ui.total')}</p>
      <Sum {...total} />
      {fee === null ? null : (
        <p className="soft">
          {t('ui.service_fee')} <Amount {...fee} />
        </p>
      )}
    </>
  );
}
