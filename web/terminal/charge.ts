import type { SaleLines } from '#prices/sale-lines.ts';
import { isReachable } from '../data/api.ts';
import type { Device } from '../data/device-api.ts';
import { formatMoney } from '../ui/format-price.ts';
import { t, withTexts } from '../ui/text/t.ts';
import type { OfflineSelling } from './screens/till-context.ts';
import type { Create, Till } from './till-phases.ts';
import type { TillRunner, TillView } from './till-runner.ts';
import type { Settings } from './till-storage.ts';

interface Chargeable {
  readonly units: bigint;
  /** The currency whose minor units `units` counts; `null` for atoms of USDC. */
  readonly currency: string | null;
}

export interface Charging {
  readonly view: { readonly till: Till };
  readonly settings: Settings;
  readonly device: Device | null;
}

/** Returns the request to open a payment that a click on `Charge` sends. */
export function createOf(
  { units, currency }: Chargeable,
  { view, settings, device }: Charging,
): Create {
  return {
    key: crypto.randomUUID(),
    amount: units,
    currency,
    lines: linesOfSum(units, device === null ? settings.taxRate : device.default_tax_basis_points),
    splitGroup: view.till.split?.group ?? null,
    tipping: settings.asksForTips ? (device?.tip_percentages ?? [10, 15, 20]) : null,
    cashier: settings.cashier || null,
  };
}

/**
 * Returns a typed sum as a line with the shop's default tax rate in basis points; `null` if it has
 * none. The sum includes the tax, because it is what the customer pays.
 */
function linesOfSum(units: bigint, rate: number | null | undefined): SaleLines | null {
  if (rate == null) return null;
  const price = { quantity: 1, unit_amount: Number(units), discount: 0 };
  const line = { ...price, name: t('till.amount'), tax_rate: rate, tax_inclusive: true };
  return { lineItems: [line], discount: 0 };
}

/** Requests the payment from the service, or offline from the customer’s own card or wallet. */
export async function charge(
  {
    runner,
    view,
    offline,
  }: {
    readonly runner: TillRunner;
    readonly view: TillView;
    readonly offline: OfflineSelling;
  },
  create: Create,
): Promise<void> {
  // A till that has just lost its connection may not have noticed that yet.
  const till = view.reached && (await isReachable()) ? null : await offline.till();
  const sale = (await till?.prepare(create)) ?? null;
  if (sale === null) return runner.dispatch({ type: 'charge', create });
  if (!('is' in sale)) return runner.dispatch({ type: 'charge_offline', sale });
  const { problemWords } = await withTexts(() => import('./offline/bounce-words.ts'));
  runner.dispatch({ type: 'not_offline', message: problemWords(sale) });
}

/** Returns the label of `Charge`, with the amount unless that is `null`. */
export function chargeWords(units: bigint | null, currency: string | null): string {
  if (units === null) return t('till.charge.button');
  return t('till.charge.button_sum', { sum: formatMoney(units, currency) });
}
