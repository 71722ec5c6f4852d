import { toMinorUnits } from '#core/currency-conversion.ts';
import { formatPrice } from '../ui/format-price.ts';

/** Returns the value of a sum, such as `≈ €92.00`, or `null` if the currency has no rate now. */
export function valueInCurrency(
  atoms: bigint,
  {
    currency,
    rates = [],
  }: {
    readonly currency: string;
    readonly rates: readonly { readonly currency: string; readonly rate: string }[] | undefined;
  },
): string | null {
  const found = rates.find((one) => one.currency === currency);
  if (found === undefined) return null;
  return `≈ ${formatPrice({ currency, units: BigInt(toMinorUnits(atoms, found)) })}`;
}
