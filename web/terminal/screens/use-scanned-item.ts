import { useEffect, useRef, useState } from 'react';
import type { CatalogueItem } from '../../data/device-api.ts';
import { currentPlace, goTo } from '../page-path.ts';
import { itemsOnSale, type TillStage } from '../till-pages.ts';
import type { TillRunner } from '../till-runner.ts';

/** The lengths of the numbers under bars (GTIN): EAN-8, UPC-A, EAN-13 and ITF-14. */
const BARCODE_NUMBER = /^(?:\d{8}|\d{12,14})$/;

/**
 * Returns the item of a scanned text, `unknown` for a barcode that belongs to no item, or `null`
 * for any other text.
 */
function itemOfBarcode(
  items: readonly CatalogueItem[],
  text: string,
): CatalogueItem | 'unknown' | null {
  const code = text.trim();
  const item = items.find(({ barcode }) => barcode === code);
  if (item !== undefined) return item;
  return items.length > 0 && BARCODE_NUMBER.test(code) ? 'unknown' : null;
}

export interface Scanned {
  /** The item of the last barcode, until the catalogue has taken it. */
  readonly item: CatalogueItem | 'unknown' | null;
  /** Takes a scanned text. @returns false if it is no barcode, or the till is in a payment. */
  readonly take: (text: string) => boolean;
  readonly forget: () => void;
}

/** Turns scanned barcodes into items for the cart. The readers call `take` outside of React. */
export function useScannedItem(stage: TillStage & { readonly runner: TillRunner }): Scanned {
  const [item, setItem] = useState<Scanned['item']>(null);
  const current = useRef(stage);
  useEffect(() => {
    current.current = stage;
  }, [stage]);
  const [actions] = useState(() => ({
    take: (text: string) => {
      const { runner } = current.current;
      if (runner.view().till.phase.at !== 'keypad') return false;
      const found = itemOfBarcode(itemsOnSale(current.current), text);
      if (found === null) return false;
      setItem(found);
      // Without another entry in the history for each scan.
      if (currentPlace() !== 'catalogue') goTo('catalogue');
      return true;
    },
    forget: () => setItem(null),
  }));
  return { item, ...actions };
}
