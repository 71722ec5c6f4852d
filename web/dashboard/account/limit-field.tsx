import { useState } from 'react';
import { toAtoms, toMinorUnits } from '#core/currency-conversion.ts';
import { formatMoney, sumRules } from '../../ui/format-price.ts';
import { t } from '../../ui/text/t.ts';
import { readSum, type TypedSum, writeSum } from '../../ui/typed-sum.ts';
import { useAccount, useRead } from '../use-merchant.ts';

interface ShopSum {
  readonly currency: string;
  readonly amount: number;
}

/** A limit as the API returns it: in atoms, and in the shop's currency if it was set in that. */
export interface StoredLimit {
  /** `null` for no limit. */
  readonly atoms: number | null;
  readonly presentment: ShopSum | null;
}

/** The currency of the shop, and its current rate. */
export interface ShopNow {
  /** `null` for USDC, `undefined` until the service has sent it. */
  readonly currency: string | null | undefined;
  readonly rate: string | null;
}

export function useShopNow(): ShopNow {
  const currency = useAccount().data?.currency;
  const quoted = useRead('GET /accounts/{account}/{mode}/balance').data?.presentment ?? null;
  return { currency, rate: quoted?.currency === currency ? (quoted?.rate ?? null) : null };
}

/**
 * Formats a limit as its field shows it. One that was set in USDC, in a shop with another currency,
 * is for example `50.00 USDC (about €46.07)`; one in a former currency of the shop has its symbol.
 */
export function limitText(
  { atoms, presentment }: StoredLimit,
  { currency, rate }: ShopNow,
): string {
  if (atoms === null) return '';
  if (presentment !== null) {
    const units = BigInt(presentment.amount);
    if (presentment.currency === currency) return writeSum(units, sumRules(currency));
    return formatMoney(units, presentment.currency);
  }
  if (currency == null) return writeSum(BigInt(atoms));
  const sum = formatMoney(BigInt(atoms), null);
  if (rate === null) return sum;
  const units = BigInt(toMinorUnits(BigInt(atoms), { currency, rate }));
  return t('dashboard.limit.about', { sum, about: formatMoney(units, currency) });
}

/** Formats a limit for people who may not change it. */
export function limitFact(limit: StoredLimit, shop: ShopNow): string {
  const { atoms, presentment } = limit;
  if (atoms !== null && presentment !== null) {
    return formatMoney(BigInt(presentment.amount), presentment.currency);
  }
  return shop.currency == null ? formatMoney(BigInt(atoms ?? 0), null) : limitText(limit, shop);
}

/**
 * Holds the state of a field for a limit in the shop's currency. Until the user changes it, it
 * means exactly the stored limit, in whatever currency that was set.
 */
export function useLimitField(stored: StoredLimit) {
  const [opened] = useState(stored);
  const [typed, setTyped] = useState<string | null>(null);
  const shop = useShopNow();
  const { rate } = shop;
  const currency = shop.currency ?? null;
  const written = limitText(opened, shop);
  const value = typed ?? written;
  const isUntouched = value === written;
  const sum: TypedSum = !isUntouched
    ? readSum(value, { ...sumRules(currency), allowsZero: true })
    : opened.atoms === null
      ? { is: 'empty' }
      : { is: 'sum', units: BigInt(opened.atoms), isWritten: true };
  const units = sum.is === 'sum' ? sum.units : null;
  const inShop = currency === null || units === null ? null : { currency, amount: Number(units) };
  return {
    field: {
      ...{ value, sum, currency, shows: true, onText: setTyped },
      readOnly: shop.currency === undefined,
    },
    isUntouched,
    /** The limit for the API; `null` for none, `undefined` for invalid input. */
    input: isUntouched
      ? (opened.presentment ?? opened.atoms)
      : sum.is === 'refused'
        ? undefined
        : (inShop ?? (units === null ? null : Number(units))),
    /** The limit in atoms, at the current rate if it is in the shop's currency. */
    atoms: isUntouched ? opened.atoms : atomsOf(units, { currency, rate }),
    /** The text of a limit that another user has stored meanwhile. */
    textOf: (limit: StoredLimit) => limitText(limit, shop),
  };
}

function atomsOf(units: bigint | null, { currency, rate }: ShopNow): number | null {
  if (units === null || currency == null) return units === null ? null : Number(units);
  return rate === null ? null : Number(toAtoms(units, { currency, rate }));
}
