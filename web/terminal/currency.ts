import type { Device } from '../data/device.ts';
import type { Settings } from './kept.ts';
import type { TillView } from './till.ts';

/**
 * What the till types in: a currency, or `null` for USDC. A bill that is split stays in its own.
 * `undefined`: the service has not said it yet, so nothing can be charged.
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
