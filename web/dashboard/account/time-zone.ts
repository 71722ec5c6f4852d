import type { Zone } from '#core/calendar.ts';
import { useAccount } from '../use-merchant.ts';

/** Returns the account's time zone for displayed times, or `undefined` while loading. */
export function useKnownTimeZone(): string | undefined {
  return useAccount().data?.time_zone;
}

/** Returns the account's time zone for days; UTC while loading. */
export function useTimeZone(): string {
  return useKnownTimeZone() ?? 'UTC';
}

/** Returns when the shop's days start; midnight UTC while loading. */
export function useShopDays(): Zone {
  const { data } = useAccount();
  const timeZone = useTimeZone();
  if (data === undefined || data.day_starts_at === '00:00') return timeZone;
  return { timeZone, starts: [{ from: '0001-01-01', at: data.day_starts_at }] };
}
