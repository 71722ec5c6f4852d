import type { Device } from '../data/device.ts';
import type { TillView } from './till.ts';
import type { Settings } from './till-storage.ts';

/**
 * Returns the currency of typed amounts, or `null` for USDC. A split bill keeps its own.
 * `undefined` until the service has sent it; nothing can be charged before that.
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
