import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';

/**
 * Maximum number of rendered rows: four pages of fifty. Three screens of rows overlap at most three
 * pages, and the focused page stays rendered.
 */
export const MOST_DRAWN = 200;

export interface ListOnPage {
  readonly page: Page;
  readonly label: string;
  /** Selector of the element whose text identifies a row. */
  readonly nameAt: string;
}

export interface Drawn {
  readonly rows: readonly (readonly [index: number, name: string])[];
  /** The number of rows; -1 while the list's end is unknown. */
  readonly count: number;
  readonly bottomPx: number;
}

export function drawnRows({ page, label, nameAt }: ListOnPage): Promise<Drawn> {
  return page.evaluate(
    (list) => {
      const table = document.querySelector(`table[aria-label="${list.label}"]`);
      const rows = [...(table?.querySelectorAll('tbody tr[aria-rowindex]') ?? [])].map((row) => {
        const name = row.querySelector(list.nameAt)?.textContent?.trim() ?? '';
        return [Number(row.getAttribute('aria-rowindex')), name] as const;
      });
      const bottomPx = table?.getBoundingClientRect().bottom ?? Number.POSITIVE_INFINITY;
      return { rows, count: Number(table?.getAttribute('aria-rowcount')), bottomPx };
    },
    { label, nameAt },
  );
}

/** Scrolls until the end is visible. @returns the rows seen, by position. */
export async function scrollThrough(
  list: ListOnPage,
  onSeen: (count: number) => Promise<void> = async () => {},
): Promise<Map<number, string>> {
  const { page } = list;
  const seen = new Map<number, string>();
  for (;;) {
    const { rows, count, bottomPx } = await drawnRows(list);
    assert.ok(rows.length <= MOST_DRAWN, `${rows.length} rows are drawn`);
    for (const [index, name] of rows) {
      assert.equal(seen.get(index) ?? name, name, `two rows at ${index}`);
      seen.set(index, name);
    }
    await onSeen(seen.size);
    const height = page.viewportSize()?.height ?? 0;
    if (count > 0 && bottomPx <= height) return seen;
    await page.evaluate((px) => {
      scrollBy(0, px);
      return new Promise((resolve) => requestAnimationFrame(resolve));
    }, height);
  }
}
