import type { CatalogueItem } from '../data/device-api.ts';
import type { Catalogue } from './screens/use-catalogue.ts';
import { tillCurrency } from './till-currency.ts';

/** A page of the till, in the order of its navigation. Their paths follow `/terminal/`. */
export type TillPage = 'catalogue' | 'keypad' | 'history' | 'totals' | 'settings';

/** Pages on which a sale begins, and to which the till returns after it. */
export const SALE_PAGES = ['', 'catalogue', 'keypad'];

/** What decides about the till's pages. */
export type TillStage = Parameters<typeof tillCurrency>[0] & { readonly catalogue: Catalogue };

/** Returns the items that the till sells now: a sale cannot mix currencies. */
export function itemsOnSale(context: TillStage): readonly CatalogueItem[] {
  // A split bill asks for parts of a sum.
  if (context.view.till.split !== null) return [];
  const currency = tillCurrency(context) ?? null;
  return context.catalogue.items?.filter((item) => item.currency === currency) ?? [];
}

/** Returns the pages; `/terminal` shows the first. Only a shop with items has a catalogue. */
export function pagesOf(context: TillStage): readonly TillPage[] {
  const pages: TillPage[] = ['keypad', 'history', 'totals', 'settings'];
  return itemsOnSale(context).length === 0 ? pages : ['catalogue', ...pages];
}
