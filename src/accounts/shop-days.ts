import { type AccountRow, selectAccount } from '#accounts/account-queries.ts';
import { type DayStarts, MIDNIGHT, type ShopDays, shopDays, withDayStart } from '#core/calendar.ts';
import type { Tenant } from '#core/mode.ts';
import { accountTime } from '#db/commit-order.ts';
import type { Sql, Tx } from '#db/database.ts';

/** Returns when the account's days start; midnight UTC if the account does not exist. */
export async function selectShopDays(sql: Sql, { accountId, livemode }: Tenant): Promise<ShopDays> {
  const account = await selectAccount(sql, accountId);
  return shopDays(account ?? { time_zone: 'UTC', day_starts: null }, livemode);
}

/** Returns the time at which the account's days start, as it was last set. */
export function dayStartsAt({ day_starts: starts }: Pick<AccountRow, 'day_starts'>): string {
  return starts?.at ?? MIDNIGHT;
}

/** Returns what to store if days are to start at another time; the rest of a day stays. */
export async function changeDayStart(
  tx: Tx,
  account: AccountRow,
  { at, now }: { readonly at: string | undefined; readonly now: Date },
): Promise<DayStarts | null> {
  if (at === undefined || at === dayStartsAt(account)) return account.day_starts;
  const startsOf = async (livemode: boolean) => {
    const time = await accountTime(tx, { accountId: account.id, livemode }, now);
    return withDayStart(shopDays(account, livemode), at, time);
  };
  return { at, test: await startsOf(false), live: await startsOf(true) };
}
