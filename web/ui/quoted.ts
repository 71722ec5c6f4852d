import { toAtoms, toMinorUnits } from '#core/exchange.ts';
import { formatPrice, type Price } from './price.ts';

/** What answers say of a sale, or of a refund, that was priced in the shop's currency. */
export interface Quoted {
  readonly currency: string;
  readonly amount: number;
  readonly rate: string;
}

export interface PaidQuoted extends Quoted {
  readonly tip_amount: number;
}

/** The price of a sale, with a tip in atoms by the same rate; `null` for a sale in USDC. */
export function priceOf(quoted: Quoted | null, tip = 0n): Price | null {
  if (quoted === null) return null;
  const { currency, amount } = quoted;
  return { currency, units: BigInt(amount + (tip === 0n ? 0 : toMinorUnits(tip, quoted))) };
}

/** What was paid, tip included. */
export function paidPrice(paid: PaidQuoted | null): Price | null {
  if (paid === null) return null;
  return { currency: paid.currency, units: BigInt(paid.amount + paid.tip_amount) };
}

function tipPrice(quoted: Quoted | null, tip: bigint): Price | null {
  if (quoted === null) return null;
  return { currency: quoted.currency, units: BigInt(toMinorUnits(tip, quoted)) };
}

interface Paid {
  readonly amount: number;
  readonly presentment: PaidQuoted | null;
}

/** What a part of the atoms of a payment is of its price, as refunds count it. */
export function sharePrice({ amount, presentment }: Paid, part: bigint): Price | null {
  const paid = paidPrice(presentment);
  if (paid === null) return null;
  const [whole, size] = [BigInt(amount), part < 0n ? -part : part];
  const units = (2n * size * paid.units + whole) / (2n * whole);
  return { currency: paid.currency, units: part < 0n ? -units : units };
}

/** The atoms of a sum in the currency of a sale, by the rate of the sale. */
export function atomsOfPrice(units: bigint, quoted: Quoted): bigint {
  return toAtoms(units, quoted);
}

function textOf(price: Price | null): string | null {
  return price === null ? null : formatPrice(price);
}

/** `€2.50` for the price of a sale with a tip in atoms; `null` for a sale in USDC. */
export function saleText(quoted: Quoted | null, tip = 0n): string | null {
  return textOf(priceOf(quoted, tip));
}

export function paidText(paid: PaidQuoted | null): string | null {
  return textOf(paidPrice(paid));
}

export function tipText(quoted: Quoted | null, tip: bigint): string | null {
  return textOf(tipPrice(quoted, tip));
}

export function shareText(payment: Paid, part: bigint): string | null {
  return textOf(sharePrice(payment, part));
}
