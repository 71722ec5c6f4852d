import type { ReactNode } from 'react';
import { Loaded } from '../../desk/loaded.tsx';
import { Amount } from '../../ui/amount.tsx';
import { firstPartOf } from '../../ui/lazy-part.ts';
import { formatNumber } from '../../ui/numbers.ts';
import { priceOf } from '../../ui/quoted-price.ts';
import { t } from '../../ui/text/t.ts';
import { useShopDays } from '../account/time-zone.ts';
import { useRead } from '../use-merchant.ts';
import { dayBefore } from './day-bounds.ts';
import { Figure } from './labeled-figure.tsx';
import { useStatistics } from './sales-figures.tsx';
import { SalesOf } from './sales-of.tsx';
import { sumDays } from './sum-days.ts';
import { paymentsNote, salesNote, weekdayOf } from './today-notes.ts';

const WEEK = 7;

const RateNote = firstPartOf(async () => (await import('./rate-note.tsx')).RateNote);

function BalanceFigure(): ReactNode {
  const { data } = useRead('GET /accounts/{account}/{mode}/balance');
  if (data === undefined) return null;
  const { presentment } = data;
  const atoms = BigInt(data.available[0]?.amount ?? 0);
  const note = presentment === null ? null : <RateNote quoted={presentment} />;
  return (
    <Figure name={t('dashboard.page.balance')} note={note}>
      <Amount atoms={atoms} price={priceOf(presentment)} />
    </Figure>
  );
}

/**
 * Shows today's sales beside those of the same weekday last week, because sales depend on the
 * weekday. Last week's figures cover the whole day.
 */
export function Today(): ReactNode {
  const shop = useShopDays();
  const [today, weekAgo] = [dayBefore(0, shop), dayBefore(WEEK, shop)];
  const query = useStatistics(weekAgo, today);
  const weekday = weekdayOf(weekAgo);
  return (
    <Loaded query={query} shape="card">
      {({ data }) => {
        const sum = sumDays(data.filter(({ day }) => day === today));
        const before = sumDays(data.filter(({ day }) => day === weekAgo));
        return (
          <section className="card stack">
            <h2>{t('dashboard.today.today_so_far.heading')}</h2>
            <dl className="figures">
              <Figure name={t('dashboard.today.sales.name')} note={salesNote(before, weekday)}>
                <SalesOf from={today} atoms={sum.volume} />
              </Figure>
              <Figure name={t('dashboard.page.payments')} note={paymentsNote(before, weekday)}>
                {formatNumber(sum.payments)}
              </Figure>
              <BalanceFigure />
            </dl>
          </section>
        );
      }}
    </Loaded>
  );
}
