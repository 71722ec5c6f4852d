import type { Page } from 'playwright-core';

const A_WEEK_MS = 7 * 24 * 3600 * 1000;

/** Wrong clocks, as found on unmaintained devices. */
export const WRONG_CLOCKS = [
  { name: 'a week ahead', offsetMs: A_WEEK_MS },
  { name: 'a week behind', offsetMs: -A_WEEK_MS },
] as const;

/** Sets the device's clock. Call it before the page is opened. */
export async function setClock(page: Page, offsetMs: number): Promise<void> {
  await page.addInitScript((offset) => {
    const Real = Date;
    class Wrong extends Real {
      constructor(...parts: [] | [number | string]) {
        if (parts.length === 0) super(Real.now() + offset);
        else super(parts[0]);
      }
      static override now = () => Real.now() + offset;
    }
    globalThis.Date = Wrong as DateConstructor;
  }, offsetMs);
}
