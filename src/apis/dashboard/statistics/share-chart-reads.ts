import { readStatistics } from '#apis/dashboard/statistics/daily-statistics.ts';
import { type HealthDay, readHealth } from '#apis/dashboard/statistics/failures-by-day.ts';
import type { DayRow, Span } from '#apis/dashboard/statistics/statistics-queries.ts';
import { tenantKey } from '#db/commit-order.ts';
import type { Database } from '#db/database.ts';

type Asked = Omit<Span, 'timeZone'>;
type Look<T> = (db: Database, asked: Asked, now: Date) => Promise<readonly T[]>;

/** Reads the data of the charts on the overview page. */
export interface Charts {
  statistics(asked: Asked, now: Date): Promise<readonly DayRow[]>;
  health(asked: Asked, now: Date): Promise<readonly HealthDay[]>;
}

/**
 * Wraps a query so that concurrent requests for the same account, mode and days share one result.
 */
function shared<T>(db: Database, look: Look<T>): (asked: Asked, now: Date) => ReturnType<Look<T>> {
  const underWay = new Map<string, ReturnType<Look<T>>>();
  return (asked, now) => {
    const key = `${tenantKey(asked.tenant)} ${asked.from} ${asked.to}`;
    const found = underWay.get(key);
    if (found !== undefined) return found;
    const begun = look(db, asked, now).finally(() => underWay.delete(key));
    underWay.set(key, begun);
    return begun;
  };
}

/**
 * Creates the chart queries. People who open the charts of one business at the same time share one
 * query, and so see the figures at its start.
 */
export function openCharts(db: Database): Charts {
  return { statistics: shared(db, readStatistics), health: shared(db, readHealth) };
}
