import type { PinContext } from '#accounts/check-pin.ts';
import type { ApiContext } from '#payments/api-context.ts';

/** Returns what a check of a PIN needs. */
export function pinContext({ db, keys, people }: ApiContext): PinContext {
  return { db, idKey: keys.id, secretKey: people.merchant.secretKey };
}
