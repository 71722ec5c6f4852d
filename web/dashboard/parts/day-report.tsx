import { type ReactNode, useState } from 'react';
import { Loaded } from '../../desk/loaded.tsx';
import { Amount } from '../../ui/amount.tsx';
import { TextField } from '../../ui/field.tsx';
import { Fact, FactList } from '../../ui/table.tsx';
import { useRead } from '../merchant.ts';
import { dayBefore } from './days.ts';
import { useTimeZone } from './time-zone.ts';

/** What one day has brought to the balance and taken out of it. */
export function DayReport(): ReactNode {
  const timeZone = useTimeZone();
  const [chosen, setDay] = useState<string | null>(null);
  const day = chosen ?? dayBefore(0, timeZone);
  const query = useRead('GET /accounts/{account}/{mode}/reports/daily/{day}', { path: { day } });
  return (
    <section className="card stack">
      <h2>One day</h2>
      <TextField
        label="Day"
        type="date"
        value={day}
        onChange={(event) => event.target.value !== '' && setDay(event.target.value)}
        hint={`A day in the time zone ${timeZone}.`}
      />
      <Loaded query={query}>
        {({ total, refunds, refunded, withdrawals, withdrawn, net }) => (
          <FactList>
            <Fact name={`Sales (${total.payments})`}>
              <Amount atoms={BigInt(total.gross)} />
            </Fact>
            <Fact name={`Refunded (${refunds})`}>
              <Amount atoms={-BigInt(refunded)} />
            </Fact>
            <Fact name={`Paid out (${withdrawals})`}>
              <Amount atoms={-BigInt(withdrawn)} />
            </Fact>
            <Fact name="Change in balance">
              <Amount atoms={BigInt(net)} />
            </Fact>
          </FactList>
        )}
      </Loaded>
    </section>
  );
}
