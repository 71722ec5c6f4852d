import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { present } from '#core/assert.ts';

/** Formats amounts and checks pages, for tests with prices in the shop's currency. */

/** Formats atoms as the apps do. */
export function usdc(atoms: unknown): string {
  return `${(Number(atoms) / 1e6).toFixed(2)} USDC`;
}

interface Quoted {
  readonly currency: string;
  readonly amount: number;
  readonly tip_amount?: number;
  readonly total?: number;
}

export function quotedOf(object: Readonly<Record<string, unknown>> | undefined): Quoted {
  return present(object?.presentment as Quoted | null, 'presentment');
}

export async function shows(page: Page, ...texts: readonly string[]): Promise<void> {
  for (const text of texts) await page.getByText(text, { exact: true }).first().waitFor();
}

/** Checks that the page does not scroll sideways. */
export async function fits(page: Page): Promise<void> {
  const wide = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
  assert.ok(Number(wide) <= 0, `${wide} px too wide`);
}
