import type { CatalogueItem } from '../data/device-api.ts';
import { plainText } from '../ui/typed-sum.ts';

/** The category of items without one. No category has an empty name. */
export const UNSORTED = '';

/** Makes `CAFÉ` and `cafe` equal, in every script. */
function folded(text: string): string {
  return plainText(text).normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
}

/**
 * Returns the items of a category whose name, category or barcode contains each typed word. A
 * complete barcode finds its item alone.
 */
export function matchingItems(
  items: readonly CatalogueItem[],
  { text, category }: { readonly text: string; readonly category: string | null },
): readonly CatalogueItem[] {
  const typed = plainText(text).trim();
  const exact = items.filter(({ barcode }) => barcode !== null && barcode === typed);
  if (exact.length > 0) return exact;
  const words = folded(typed).split(/\s+/).filter(Boolean);
  // A search looks through all categories.
  const among = words.length > 0 ? null : category;
  return items.filter((item) => {
    if (among !== null && (item.category ?? UNSORTED) !== among) return false;
    const all = folded(`${item.name} ${item.category ?? ''} ${item.barcode ?? ''}`);
    return words.every((word) => all.includes(word));
  });
}
