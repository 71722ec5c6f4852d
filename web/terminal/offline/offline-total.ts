import type { OfflineRequest } from '../../data/offline-request.ts';
import type { SaleTotal } from '../../ui/paid-total.ts';
import { saleTotal } from '../../ui/sale-total.tsx';
import type { Slip } from '../till-phases.ts';

/** Returns what the customer of an offline sale pays. */
export function requestTotal({ amount, value, price }: OfflineRequest): SaleTotal {
  return saleTotal(price ?? null, { sale: amount, tip: 0n, paid: value });
}

/** Returns what the customer of an accepted sale pays. */
export function slipTotal({ amount, paid, price = null }: Slip): SaleTotal {
  const { rate = null } = price ?? {};
  // A till stored by an earlier version may not know the rate.
  const quoted = price && rate && { ...price, rate, amount: Number(price.units) };
  return saleTotal(quoted || null, { sale: amount, tip: 0n, paid: paid ?? null });
}
