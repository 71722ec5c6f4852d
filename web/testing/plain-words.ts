import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';

/** Screens for customers and cashiers. */
const PLAIN = /^\/(terminal|wallet|pay|receipts)(\/|$)/;
/**
 * Paths of dashboard and console. They show ids and addresses where users work with them, but no
 * other codes.
 */
const DESK = /^\/(dashboard|operator)(\/|$)/;
/**
 * Pages that may contain API terms: those for developers, alarms with their names from the runbook,
 * and a payment in the operator console with its requests and events.
 */
const OF_PROGRAMS =
  /^\/(dashboard\/(api-keys|webhooks|events|request-log)|operator\/(alarms|support))(\/|$)/;
/** Pages whose purpose is to compare addresses letter by letter. */
const COMPARING = ['/wallet/contracts', '/wallet/take-back'];
/**
 * Elements that are not checked. Test passes have the names of `sandbox.json`, and `code` is copied
 * or compared verbatim.
 */
const LEFT_OUT = 'script, style, option, textarea, code, pre, .unseen, .amount-exact';
const HEADLINES = 'h1, .sum, .balance-sum, .ring-sum, .payment-sum strong';

interface SeenText {
  readonly text: string;
  readonly isHeadline: boolean;
}

/**
 * A string, because server tests import code that opens windows, and their types have no
 * `document`.
 */
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

/** The payer on a receipt, shown as both ends of the address, for comparison with a wallet. */
const PAYER = /\b0x[0-9a-f]{4}…[0-9a-f]{4}\b/i;

/** An exchange rate beside a sum. */
const RATE = / = [\d.,]+ USDC$/;

function problemsOf({ text, isHeadline }: SeenText, isReceipt: boolean): string[] {
  const read = isReceipt ? text.replace(PAYER, '') : text;
  const problems: string[] = [];
  if (/_/.test(read)) problems.push(`an underscore: ${text}`);
  // An order id may contain the start of an address, hence the word boundary.
  if (/\b0x[0-9a-f]/i.test(read)) problems.push(`an address: ${text}`);
  if (/\b(?=\w*\d)(?=\w*[A-Za-z])\w{20,}\b/.test(read)) problems.push(`an id: ${text}`);
  const sums = read.replace(RATE, '');
  if (isHeadline && /\.\d{3}/.test(sums)) problems.push(`more than two decimals: ${text}`);
  return problems;
}

/** Matches ids (whole or shortened), email addresses and URLs. */
const NAMED = /\b[a-z]{2,5}_\w{6,}…?\w*|\S+@\S+|\bhttps?:\S+/g;
/**
 * Matches codes such as `no_worker`. Capitals are excluded, because a random order ID may contain
 * `jo_izBPV`.
 */
const CODE = /\b[a-z]+(?:_[a-z]+)+\b/;
/**
 * Matches names such as `createAccount`. The service's own order ids have only eight characters, so
 * they do not match.
 */
const CAMEL = /\b(?=[a-zA-Z]{10,}\b)[a-z]{3,}(?:[A-Z][a-z]+)+\b/;

function problemsOfDesk({ text }: SeenText): string[] {
  const read = text.replaceAll(NAMED, '');
  const problems: string[] = [];
  if (CODE.test(read)) problems.push(`a code: ${text}`);
  if (CAMEL.test(read)) problems.push(`the name of an operation: ${text}`);
  if (/\bISO\b|\bRFC\b/.test(read)) problems.push(`the number of a standard: ${text}`);
  return problems;
}

/** Fails on each visible text that only programs or developers understand. */
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
