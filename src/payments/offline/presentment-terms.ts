import { selectShopAt } from '#accounts/locations.ts';
import { addMs } from '#core/clock.ts';
import { toAtomsUp } from '#core/currency-conversion.ts';
import { HOUR_MS } from '#core/durations.ts';
import { type IdKey, offlineTermsId } from '#core/ids.ts';
import type { Tenant } from '#core/mode.ts';
import type { Sql } from '#db/database.ts';
import { LONGEST_VALID_MS } from '#payments/offline/signed-sale.ts';
import { type Quote, raiseRate, rateOfSale } from '#prices/quote-price.ts';
import { type RateRow, selectRates } from '#prices/rate-queries.ts';
import type { OfflineLimits } from '#terminals/offline-limits.ts';

/** The terms at which a till sells offline in the shop's currency. */
export interface PresentmentTerms {
  readonly currency: string;
  /** USDC for one unit, with the margin. */
  readonly rate: string;
  /** Basis points in the shop's favor, for the change of the rate until the sale is forwarded. */
  readonly margin: number;
  readonly quotedAt: Date;
  readonly validUntil: Date;
}

/**
 * Returns the terms for a till that may go without contact for `hours`; `null` if no rate was
 * usable for that long.
 */
export function presentmentTerms(
  row: RateRow | undefined,
  { hours, margin, now }: { readonly hours: number; readonly margin: number; readonly now: Date },
): PresentmentTerms | null {
  const { rate: good = null, quoted_at: quotedAt = null, usable_until: until = null } = row ?? {};
  if (row === undefined || good === null || quotedAt === null || until === null) return null;
  if (addMs(until, hours * HOUR_MS) < now) return null;
  // The margin for a closed market is the one that held when the rate was last usable.
  const rate = raiseRate(rateOfSale(good, row, until < now ? until : now), margin);
  const validUntil = addMs(quotedAt, hours * HOUR_MS);
  return { currency: row.currency, rate, margin, quotedAt, validUntil };
}

export function idOfTerms(idKey: IdKey, tenant: Tenant, terms: PresentmentTerms): string {
  const { currency, rate, margin, quotedAt, validUntil } = terms;
  const fields = [currency, rate, margin, quotedAt.getTime(), validUntil.getTime()];
  return offlineTermsId(idKey, tenant, fields.join('_'));
}

/** Returns a till's terms as the API shows them; `null` if its shop has no currency, or no rate. */
export async function readPresentmentTerms(
  { db, keys }: { readonly db: Sql; readonly keys: { readonly id: IdKey } },
  { tenant, terminalId }: { readonly tenant: Tenant; readonly terminalId: string },
  { hours, rate_margin: margin, now }: OfflineLimits & { readonly now: Date },
) {
  const { currency } = await selectShopAt(db, { accountId: tenant.accountId, terminalId });
  if (currency === null) return null;
  const rates = await selectRates(db, [currency]);
  const terms = presentmentTerms(rates.get(currency), { hours, margin, now });
  if (terms === null) return null;
  const { rate, quotedAt, validUntil } = terms;
  return {
    id: idOfTerms(keys.id, tenant, terms),
    currency,
    rate,
    quoted_at: quotedAt.toISOString(),
    valid_until: validUntil.toISOString(),
    margin,
  };
}

const TERMS_ID =
  /^oft_([a-z]{3})_(\d{1,20}(?:\.\d{1,12})?)_(\d{1,4})_(\d{1,14})_(\d{1,14})_\w{22}$/;

/** Returns the terms that an id holds; `null` if the service has not issued them to the account. */
export function readTermsId(idKey: IdKey, tenant: Tenant, id: string): PresentmentTerms | null {
  const [, currency = '', rate = '', margin, quotedAt, validUntil] = TERMS_ID.exec(id) ?? [];
  const terms = {
    ...{ currency, rate, margin: Number(margin) },
    ...{ quotedAt: new Date(Number(quotedAt)), validUntil: new Date(Number(validUntil)) },
  };
  return idOfTerms(idKey, tenant, terms) === id ? terms : null;
}

export const PRESENTMENT_PROBLEMS = ['terms_unknown', 'terms_expired'] as const;
export type PresentmentProblem = (typeof PRESENTMENT_PROBLEMS)[number];

/** A record's price in the shop's currency, as the till sends it. */
export interface TermsPrice {
  /** The id of the terms. */
  readonly terms: string;
  /** Minor units. */
  readonly amount: number;
}

/** The quote of an offline sale. `source` names no feed, because the terms do not hold it. */
export type OfflineQuote = Quote & { readonly margin: number };
const SOURCE = 'offline terms';

/**
 * Returns the quote of a record. With terms that the service does not know, or that ended too long
 * ago for this signature, the sale is taken in USDC.
 */
export function quoteOfRecord(
  price: TermsPrice | null,
  by: { readonly idKey: IdKey; readonly tenant: Tenant; readonly validBefore: bigint },
): { readonly quote: OfflineQuote | null; readonly problem: PresentmentProblem | null } {
  if (price === null) return { quote: null, problem: null };
  const terms = readTermsId(by.idKey, by.tenant, price.terms);
  if (terms === null) return { quote: null, problem: 'terms_unknown' };
  const latest = BigInt(terms.validUntil.getTime() + LONGEST_VALID_MS);
  if (latest < by.validBefore * 1_000n) return { quote: null, problem: 'terms_expired' };
  const { currency, rate, margin, quotedAt } = terms;
  const { amount } = price;
  const quote = {
    currency,
    amount,
    rate,
    quotedAt: quotedAt.toISOString(),
    source: SOURCE,
    margin,
  };
  return { quote, problem: null };
}

/** True if the atoms of a sale are what its terms give for its price. */
export function isWorth(amount: bigint, quote: Quote): boolean {
  return toAtomsUp(BigInt(quote.amount), quote) === amount;
}
