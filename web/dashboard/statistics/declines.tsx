import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { formatNumber } from '../../ui/numbers.ts';
import { t } from '../../ui/text/t.ts';
import { rich } from '../../ui/text/tagged-text.ts';
import { useShopDays } from '../account/time-zone.ts';
import { declineWords } from '../payments/decline-words.ts';
import { dayBefore } from './day-bounds.ts';

interface DeclinesProps {
  readonly counts: Readonly<Record<string, number>>;
  readonly length: number;
}

/** Shows the declines that ended intents. Each code links to its intents. */
export function Declines({ counts, length }: DeclinesProps): ReactNode {
  const declines = Object.entries(counts).sort((one, other) => other[1] - one[1]);
  const shop = useShopDays();
  const [from, to] = [dayBefore(length - 1, shop), dayBefore(0, shop)];
  return (
    <div className="stack stack-tight">
      <h3>{t('dashboard.sales_figures.declined.heading')}</h3>
      <ul className="row">
        {declines.map(([code, count]) => (
          <li key={code}>
            <Link href={`/dashboard/intents?decline=${code}&from=${from}&to=${to}`}>
              {rich(
                'dashboard.sales_figures.declined.row',
                { reason: () => <>{declineWords(code)}</> },
                { count: formatNumber(count) },
              )}
            </Link>
          </li>
        ))}
      </ul>
    </div>
  );
}
