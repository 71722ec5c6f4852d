import type { Filters } from '../../desk/filters.tsx';
import { dayEnd, dayStart } from '../statistics/day-bounds.ts';
import { type Days, presetDays } from '../statistics/day-presets.ts';
import { useAccount } from '../use-merchant.ts';

/** Returns the account's time zone for displayed times, or `undefined` while loading. */
export function useKnownTimeZone(): string | undefined {
  return useAccount().data?.time_zone;
}

/** Returns the account's time zone for days; UTC while loading. */
export function useTimeZone(): string {
  return useKnownTimeZone() ?? 'UTC';
}

/** Returns the days of a list's filter: a named period or single days. */
export function useDays(filters: Filters): Days {
  const timeZone = useTimeZone();
  const named = presetDays(filters.get('time') ?? '', timeZone);
  return named ?? { from: filters.get('from'), to: filters.get('to') };
}

/** Returns the days of a list's filter as API parameters. */
export function useChosenDays(filters: Filters) {
  const timeZone = useTimeZone();
  const { from, to } = useDays(filters);
  return { created_gte: dayStart(from, timeZone), created_lt: dayEnd(to, timeZone) };
}
