import type { ReactNode } from 'react';
import { linePrice } from '#prices/sale-lines.ts';
import type { Payment } from '../../data/types/dashboard.ts';
import { formatNumber, percentText } from '../../ui/numbers.ts';
import { quantityText } from '../../ui/quantity-text.ts';
import { Fact, FactList } from '../../ui/table.tsx';
import { t } from '../../ui/text/t.ts';
import { Money } from '../../ui/typed-money.tsx';

/** Lists what was sold, the discount on the sale, and its taxes by rate. */
export function SoldItems({ payment }: { readonly payment: Payment }): ReactNode {
  const { line_items: lines, discount, taxes, presentment } = payment;
  if (lines === null) return null;
  const sum = (units: bigint) => <Money units={units} currency={presentment?.currency ?? null} />;
  return (
    <section className="card stack">
      <h2>{t('dashboard.payment.items.heading')}</h2>
      <FactList>
        {[...lines.entries()].map(([at, line]) => (
          <Fact key={at} name={`${quantityText(line.quantity)} × ${line.name}`}>
            {sum(linePrice(line))}
          </Fact>
        ))}
        <Fact name={t('till.cart.discount')}>{discount === 0 ? null : sum(BigInt(-discount))}</Fact>
        {(taxes ?? []).map(({ rate, tax }) => {
          const percent = percentText(formatNumber(rate / 100));
          return (
            <Fact key={`tax ${rate}`} name={t('dashboard.payment.tax.name', { rate: percent })}>
              {sum(BigInt(tax))}
            </Fact>
          );
        })}
      </FactList>
    </section>
  );
}
