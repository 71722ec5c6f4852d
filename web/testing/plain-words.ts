import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';

/** Screens of people at a counter. Dashboard and operator show ids where they are worked with. */
const PLAIN = /^\/(terminal|wallet|pay|receipts)(\/|$)/;
/** Where addresses are compared letter by letter: that is what one comes for. */
const COMPARING = ['/wallet/contracts', '/wallet/take-back'];
/** Test passes are named as in the file of the sandbox; `code` is copied or compared as it is. */
const LEFT_OUT = 'script, style, option, textarea, code, .unseen, .amount-exact';
const HEADLINES = 'h1, .sum, .balance-sum, .ring-sum, .payment-sum strong';

interface SeenText {
  readonly text: string;
  readonly isHeadline: boolean;
}

/** As text: the tests of the server, which open windows too, know no `document`. */
const SEEN_TEXTS = `(() => {
  const seen = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    const text = node.textContent.trim();
    const holder = node.parentElement;
    if (text === '' || !holder.checkVisibility() || holder.closest('${LEFT_OUT}')) continue;
    seen.push({ text, isHeadline: holder.closest('${HEADLINES}') !== null });
  }
  return seen;
})()`;

/** A receipt names its payer by both ends of the address: they are compared with a wallet's. */
const PAYER = /\b0x[0-9a-f]{4}…[0-9a-f]{4}\b/i;

function problemsOf({ text, isHeadline }: SeenText, isReceipt: boolean): string[] {
  const read = isReceipt ? text.replace(PAYER, '') : text;
  const problems: string[] = [];
  if (/_/.test(read)) problems.push(`an underscore: ${text}`);
  if (/0x/i.test(read)) problems.push(`an address: ${text}`);
  if (/\b(?=\w*\d)(?=\w*[A-Za-z])\w{20,}\b/.test(read)) problems.push(`an id: ${text}`);
  if (isHeadline && /\.\d{3}/.test(read)) problems.push(`more than two decimals: ${text}`);
  return problems;
}

/** Fails with each visible text that nobody at a counter would understand. */
export async function checkPlainWords(page: Page): Promise<void> {
  const { pathname } = new URL(page.url());
  if (!PLAIN.test(pathname) || COMPARING.includes(pathname)) return;
  const isReceipt = pathname.startsWith('/receipts');
  const seen = (await page.evaluate(SEEN_TEXTS)) as SeenText[];
  assert.ok(seen.length > 0, `${pathname} shows something`);
  const strange = seen.flatMap((one) => problemsOf(one, isReceipt));
  assert.deepEqual(strange, [], pathname);
}
