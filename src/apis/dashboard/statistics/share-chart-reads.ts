import { readStatistics } from '#apis/dashboard/statistics/daily-statistics.ts';
import { type HealthDay, readHealth } from '#apis/dashboard/statistics/failures-by-day.ts';
import type { DayRow, Span } from '#apis/dashboard/statistics/statistics-queries.ts';
import { tenantKey } from '#db/commit-order.ts';
import type { Database } from '#db/database.ts';

type StoredSpan = Omit<Span, 'shop'>;
type Look<T> = (db: Database, span: StoredSpan, now: Date) => Promise<readonly T[]>;

export interface Charts {
  statistics(span: StoredSpan, now: Date): Promise<readonly DayRow[]>;
  health(span: StoredSpan, now: Date): Promise<readonly HealthDay[]>;
}

/**
 * Wraps a query so that concurrent requests for the same account, mode and days share one result.
 */
function shared<T>(
  db: Database,
  look: Look<T>,
): (span: StoredSpan, now: Date) => ReturnType<Look<T>> {
  const underWay = new Map<string, ReturnType<Look<T>>>();
  return (span, now) => {
    const key = `${tenantKey(span.tenant)} ${span.from} ${span.to}`;
    const pending = underWay.get(key);
    if (pending !== undefined) return pending;
    const begun = look(db, span, now).finally(() => underWay.delete(key));
    underWay.set(key, begun);
    return begun;
  };
}

/**
 * People who open the charts of one business at the same time share one query, and so see the
 * figures at its start.
 */
export function openCharts(db: Database): Charts {
  return { statistics: shared(db, readStatistics), health: shared(db, readHealth) };
}
