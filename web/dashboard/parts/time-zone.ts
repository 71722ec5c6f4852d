import type { Filters } from '../../desk/filters.tsx';
import { useRead } from '../merchant.ts';
import { dayEnd, dayStart } from './days.ts';

/** The zone in which the account counts days; UTC until it is known. */
export function useTimeZone(): string {
  return useRead('GET /accounts/{account}').data?.time_zone ?? 'UTC';
}

/** The days that a list is filtered by, as the API takes them. */
export function useChosenDays(filters: Filters) {
  const timeZone = useTimeZone();
  return {
    created_gte: dayStart(filters.get('from'), timeZone),
    created_lt: dayEnd(filters.get('to'), timeZone),
  };
}
