import type { Device } from '../data/device-api.ts';
import type { TillView } from './till-runner.ts';
import type { Settings } from './till-storage.ts';

/**
 * True if the keypad's digits were typed before the owner changed the till's currency. Such digits
 * must not be charged: 1250 yen are not 1250 dinars.
 */
export function isTypedElsewhere(
  { split, typed, typedIn }: TillView['till'],
  currency: string | null | undefined,
): boolean {
  // The till itself fills in the amounts of a split bill.
  if (split !== null || typed === '' || typedIn === undefined) return false;
  return currency !== undefined && typedIn !== currency;
}

/**
 * Returns the currency of typed amounts, or `null` for USDC. A split bill keeps its own currency.
 * `undefined` until the service has sent it; until then nothing can be charged.
 */
export function tillCurrency({
  device,
  view,
  settings,
}: {
  readonly device: Device | null;
  readonly view: TillView;
  readonly settings: Settings;
}): string | null | undefined {
  const { split } = view.till;
  if (split !== null) return split.currency;
  if (device !== null) return device.currency;
  return view.reached ? undefined : settings.currency;
}
