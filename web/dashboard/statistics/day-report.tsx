import { type ReactNode, useState } from 'react';
import { Loaded } from '../../desk/loaded.tsx';
import { Amount } from '../../ui/amount.tsx';
import { TextField } from '../../ui/field.tsx';
import { Fact, FactList } from '../../ui/table.tsx';
import { t } from '../../ui/text/t.ts';
import { useShopDays, useTimeZone } from '../account/time-zone.ts';
import { useRead } from '../use-merchant.ts';
import { dayBefore } from './day-bounds.ts';

export function DayReport(): ReactNode {
  const timeZone = useTimeZone();
  const [chosen, setDay] = useState<string | null>(null);
  const today = dayBefore(0, useShopDays());
  const day = chosen ?? today;
  const query = useRead('GET /accounts/{account}/{mode}/reports/daily/{day}', { path: { day } });
  return (
    <section className="card stack">
      <h2>{t('dashboard.day_report.one_day.heading')}</h2>
      <TextField
        label={t('dashboard.day_report.day.label')}
        type="date"
        value={day}
        onChange={(event) => event.target.value !== '' && setDay(event.target.value)}
        hint={t('dashboard.day_report.hint', { timeZone })}
      />
      <Loaded query={query}>
        {({ total, refunds, refunded, withdrawals, withdrawn, net }) => (
          <FactList>
            <Fact name={t('dashboard.day_report.sales.name', { count: total.payments })}>
              <Amount atoms={BigInt(total.gross)} />
            </Fact>
            <OfflinePart day={day} />
            <Fact name={t('dashboard.day_report.refunded.name', { count: refunds })}>
              <Amount atoms={-BigInt(refunded)} />
            </Fact>
            <Fact name={t('dashboard.day_report.paid_out.name', { count: withdrawals })}>
              <Amount atoms={-BigInt(withdrawn)} />
            </Fact>
            <Fact name={t('dashboard.day_report.change_in_balance.name')}>
              <Amount atoms={BigInt(net)} />
            </Fact>
          </FactList>
        )}
      </Loaded>
    </section>
  );
}

/** Shows the day's sales that tills accepted offline. No other sum counts those that bounced. */
function OfflinePart({ day }: { readonly day: string }): ReactNode {
  const query = useRead('GET /accounts/{account}/{mode}/totals', { query: { from: day, to: day } });
  if (query.data === undefined) return null;
  const { payments, sales, bounced, bounced_amount: lost } = query.data.offline;
  return (
    <>
      <Fact name={t('dashboard.day_report.offline.name', { count: payments })}>
        {payments === 0 ? null : <Amount atoms={BigInt(sales)} />}
      </Fact>
      <Fact name={t('dashboard.offline.bounced.name', { count: bounced })}>
        {bounced === 0 ? null : <Amount atoms={BigInt(lost)} />}
      </Fact>
    </>
  );
}
