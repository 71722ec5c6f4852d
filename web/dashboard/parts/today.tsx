import type { ReactNode } from 'react';
import { Loaded } from '../../desk/loaded.tsx';
import { Amount } from '../../ui/amount.tsx';
import { roundAtoms } from '../../ui/money.ts';
import { dayBefore } from './days.ts';
import { Figure } from './figure.tsx';
import { useStatistics } from './sales-figures.tsx';
import { sumDays } from './sum-days.ts';
import { useTimeZone } from './time-zone.ts';

const WEEK = 7;

/** What was sold today, beside the whole same day of last week: shops live by weekdays. */
export function Today(): ReactNode {
  const timeZone = useTimeZone();
  const [today, weekAgo] = [dayBefore(0, timeZone), dayBefore(WEEK, timeZone)];
  const query = useStatistics(weekAgo, today);
  const weekday = new Intl.DateTimeFormat('en-US', { weekday: 'long', timeZone: 'UTC' });
  const name = weekday.format(new Date(weekAgo));
  return (
    <Loaded query={query} shape="card">
      {({ data }) => {
        const sum = sumDays(data.filter(({ day }) => day === today));
        const before = sumDays(data.filter(({ day }) => day === weekAgo));
        return (
          <section className="card stack">
            <h2>Today so far</h2>
            <dl className="figures">
              <Figure
                name="Sales"
                note={
                  before.payments === 0
                    ? `No sales last ${name}`
                    : `${roundAtoms(before.volume)} USDC all day last ${name}`
                }
              >
                <Amount atoms={sum.volume} />
              </Figure>
              <Figure
                name="Payments"
                note={
                  before.payments === 0
                    ? null
                    : `${before.payments.toLocaleString('en-US')} all day last ${name}`
                }
              >
                {sum.payments.toLocaleString('en-US')}
              </Figure>
            </dl>
          </section>
        );
      }}
    </Loaded>
  );
}
