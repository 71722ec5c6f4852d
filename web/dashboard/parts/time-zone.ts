import type { Filters } from '../../desk/filters.tsx';
import { useRead } from '../merchant.ts';
import { dayEnd, dayStart } from './days.ts';
import { type Days, presetDays } from './presets.ts';

/** The zone in which the account counts days; UTC until it is known. */
export function useTimeZone(): string {
  return useRead('GET /accounts/{account}').data?.time_zone ?? 'UTC';
}

/** The days that a list is filtered by: named, or chosen one by one. */
export function useDays(filters: Filters): Days {
  const timeZone = useTimeZone();
  const named = presetDays(filters.get('time') ?? '', timeZone);
  return named ?? { from: filters.get('from'), to: filters.get('to') };
}

/** The same, as the API takes them. */
export function useChosenDays(filters: Filters) {
  const timeZone = useTimeZone();
  const { from, to } = useDays(filters);
  return { created_gte: dayStart(from, timeZone), created_lt: dayEnd(to, timeZone) };
}
