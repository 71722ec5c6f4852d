import type { Filters } from '../../desk/filters.tsx';
import { useShopDays } from '../account/time-zone.ts';
import { dayEnd, dayStart } from './day-bounds.ts';
import { type Days, presetDays } from './day-presets.ts';

/** Returns the days of a list's filter: a named period or single days. */
export function useDays(filters: Filters): Days {
  const named = presetDays(filters.get('time') ?? '', useShopDays());
  return named ?? { from: filters.get('from'), to: filters.get('to') };
}

/** Returns the days of a list's filter as API parameters. */
export function useChosenDays(filters: Filters) {
  const shop = useShopDays();
  const { from, to } = useDays(filters);
  return { created_gte: dayStart(from, shop), created_lt: dayEnd(to, shop) };
}
