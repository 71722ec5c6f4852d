import type { Filters } from '../../desk/filters.tsx';
import { useRead } from '../merchant.ts';
import { dayEnd, dayStart } from './days.ts';
import { type Days, presetDays } from './presets.ts';

/** The account's zone, in which its times are shown; undefined until it is known. */
export function useKnownTimeZone(): string | undefined {
  return useRead('GET /accounts/{account}').data?.time_zone;
}

/** The zone in which the account counts days; UTC until it is known. */
export function useTimeZone(): string {
  return useKnownTimeZone() ?? 'UTC';
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
