import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';

/** Controls that scripts find by name, on pages in the user's language. */
const NAMES = {
  button: [
    ...['Sign in', 'Sign out', 'Charge', 'Cancel payment', 'New payment', 'Start shift', 'Refund'],
    // Longer names come before their prefixes.
    ...['Create API key', 'Add terminal', 'Pair', 'Pay offline', 'Pay', 'Withdraw', 'Go live'],
    'Resend',
    ...['Add tip', 'No tip', 'Create wallet', 'Import wallet'],
  ],
  input: [
    ...['Email', 'Password', 'Amount', 'Authentication code', 'Pairing code'],
    ...['Private key', 'Wallet password', 'Repeat wallet password'],
  ],
} as const;

/** Finds controls on an English page that have one of these names but no `data-name`. */
const UNNAMED = `(() => {
  if (document.documentElement.lang !== 'en') return [];
  const found = [];
  for (const [kind, names] of Object.entries(${JSON.stringify(NAMES)})) {
    for (const control of document.querySelectorAll(kind)) {
      const words = control.getAttribute('aria-label') ?? control.labels?.[0]?.innerText;
      const shown = (kind === 'button' ? (words ?? control.innerText) : (words ?? '')).trim();
      const name = names.find((one) => shown === one || shown.startsWith(one + ' '));
      if (name === undefined || !control.checkVisibility()) continue;
      if (control.dataset.name !== name) found.push(shown);
    }
  }
  return found;
})()`;

/** Operator console and docs exist in English only, so their controls need no `data-name`. */
const ENGLISH_ONLY = /^\/(operator|docs|dev)\b/;

/**
 * Checks that every named control has a `data-name`, which scripts use to find it in any language.
 */
export async function checkNamedControls(page: Page): Promise<void> {
  if (ENGLISH_ONLY.test(new URL(page.url()).pathname)) return;
  assert.deepEqual(await page.evaluate(UNNAMED), [], 'controls without their data-name');
}
