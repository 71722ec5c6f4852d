import type { Zone } from '#core/calendar.ts';
import { useAccount, useMerchant } from '../use-merchant.ts';

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
  const { mode } = useMerchant();
  return data === undefined ? 'UTC' : { timeZone: data.time_zone, starts: data.day_starts[mode] };
}
