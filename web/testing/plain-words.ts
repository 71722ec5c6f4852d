import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';

/** Screens of people at a counter. */
const PLAIN = /^\/(terminal|wallet|pay|receipts)(\/|$)/;
/** Desks show ids and addresses where they are worked with, but speak plainly beside them. */
const DESK = /^\/(dashboard|operator)(\/|$)/;
/**
 * Pages for those who write programs, where the words of the API are what they look for; alarms,
 * which the runbook names; and what staff see of a payment, with its calls and events.
 */
const OF_PROGRAMS =
  /^\/(dashboard\/(api-keys|webhooks|events|request-log)|operator\/(alarms|support))(\/|$)/;
/** Where addresses are compared letter by letter: that is what one comes for. */
const COMPARING = ['/wallet/contracts', '/wallet/take-back'];
/** Test passes are named as in the file of the sandbox; `code` is copied or compared as it is. */
const LEFT_OUT = 'script, style, option, textarea, code, pre, .unseen, .amount-exact';
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
  // An order id may end like the beginning of an address.
  if (/\b0x[0-9a-f]/i.test(read)) problems.push(`an address: ${text}`);
  if (/\b(?=\w*\d)(?=\w*[A-Za-z])\w{20,}\b/.test(read)) problems.push(`an id: ${text}`);
  if (isHeadline && /\.\d{3}/.test(read)) problems.push(`more than two decimals: ${text}`);
  return problems;
}

/** Ids, whole or shortened, email addresses and web addresses. */
const NAMED = /\b[a-z]{2,5}_\w{6,}…?\w*|\S+@\S+|\bhttps?:\S+/g;
/** Such as `no_worker`. A random order id may hold `jo_izBPV`, with capitals. */
const CODE = /\b[a-z]+(?:_[a-z]+)+\b/;
/** Such as `createAccount`; the order ids that we make have eight characters. */
const CAMEL = /\b(?=[a-zA-Z]{10,}\b)[a-z]{3,}(?:[A-Z][a-z]+)+\b/;

function problemsOfDesk({ text }: SeenText): string[] {
  const read = text.replaceAll(NAMED, '');
  const problems: string[] = [];
  if (CODE.test(read)) problems.push(`a code: ${text}`);
  if (CAMEL.test(read)) problems.push(`the name of an operation: ${text}`);
  if (/\bISO\b|\bRFC\b/.test(read)) problems.push(`the number of a standard: ${text}`);
  return problems;
}

/** Fails with each visible text that only programs, or those who write them, understand. */
export async function checkPlainWords(page: Page): Promise<void> {
  const { pathname } = new URL(page.url());
  const isDesk = DESK.test(pathname) && !OF_PROGRAMS.test(pathname);
  const isPlain = PLAIN.test(pathname) && !COMPARING.includes(pathname);
  if (!isDesk && !isPlain) return;
  const isReceipt = pathname.startsWith('/receipts');
  const seen = (await page.evaluate(SEEN_TEXTS)) as SeenText[];
  assert.ok(seen.length > 0, `${pathname} shows something`);
  const strange = seen.flatMap((one) =>
    isDesk ? problemsOfDesk(one) : problemsOf(one, isReceipt),
  );
  assert.deepEqual(strange, [], pathname);
}
