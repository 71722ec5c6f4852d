import assert from 'node:assert/strict';
import { directionOf, languageTag, PSEUDO_LANGUAGE } from '#i18n/languages.ts';
import type { TestWindow } from './browser.ts';
import { englishLeftIn } from './english-left.ts';
import { BAD_LINES } from './japanese-lines.ts';
import { TESTED_LANGUAGE } from './tested-language.ts';

/** Matches English letters, which the catalog's texts do not contain in the pseudo-language. */
const ENGLISH = '/[A-Za-z]{2}/';

/**
 * Finds visible or spoken texts and attributes that are not from the catalog: English letters that
 * a translator may change. Code as a string, because the types of the server's tests have no
 * `document`.
 */
const UNTRANSLATED = `((names) => {
  const found = [];
  // A title is translated as a whole or not at all, whatever names it contains.
  const isFixed = (element) =>
    element.closest('[translate="no"], title, script, style, textarea') !== null;
  const note = (words) => {
    const rest = words.replaceAll(/\\bTapline\\b|\\bUSDC\\b|\\bUTC\\b/g, '');
    if (${ENGLISH}.test(rest)) found.push(words.trim());
  };
  const texts = document.createTreeWalker(document.documentElement, NodeFilter.SHOW_TEXT);
  for (let text = texts.nextNode(); text !== null; text = texts.nextNode()) {
    if (!isFixed(text.parentElement)) note(text.data);
  }
  for (const name of ['aria-label', 'title', 'placeholder', 'alt']) {
    for (const element of document.querySelectorAll('[' + name + ']')) {
      const isStyle = element.matches('link, style');
      if (isFixed(element) || isStyle) continue;
      note(names.reduce((rest, one) => rest.replaceAll(one, ''), element.getAttribute(name)));
    }
  }
  return found;
})`;

/**
 * Finds amounts and hashes that a translator could change, or that have no text direction of their
 * own on a right-to-left page.
 */
const UNKEPT = `(() => {
  const found = [];
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let text = texts.nextNode(); text !== null; text = texts.nextNode()) {
    const holder = text.parentElement;
    if (!/\\d[\\d.,\\s]*USDC|\\p{Sc}|0x[0-9a-f]{4}/iu.test(text.data)) continue;
    if (holder.closest('script, style, title, textarea, option') !== null) continue;
    const isKept = holder.closest('[translate="no"]') !== null;
    const isIsolated = holder.closest('bdi, [dir="ltr"], pre') !== null;
    if (!isKept || !isIsolated) found.push(holder.outerHTML.slice(0, 160));
  }
  return found;
})()`;

/**
 * Finds elements whose text extends beyond the window, and the page's horizontal overflow in px.
 */
const OVERFLOWING = `(() => {
  const { clientWidth, scrollWidth } = document.documentElement;
  const found = scrollWidth > clientWidth ? ['the page: ' + (scrollWidth - clientWidth)] : [];
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let text = texts.nextNode(); text !== null; text = texts.nextNode()) {
    const holder = text.parentElement;
    if (text.data.trim() === '' || !holder.checkVisibility()) continue;
    // Skips text for screen readers, and elements that scroll.
    if (holder.closest('.unseen, pre, script, style, [popover]') !== null) continue;
    // Skips the visually hidden headers of tables that show each row as label–value pairs on small
    // screens.
    if (holder.closest('thead')?.clientWidth <= 1) continue;
    const range = document.createRange();
    range.selectNodeContents(text);
    // A long id may be cut off on purpose, to fit the available space.
    const isCut = getComputedStyle(holder).textOverflow === 'ellipsis';
    const { left, right, width } = (isCut ? holder : range).getBoundingClientRect();
    if (width > 0 && (left < -1 || right > clientWidth + 1)) found.push(text.data);
  }
  // Elements without text can overflow too, so they are listed as well.
  for (const element of found.length === 0 ? [] : document.body.querySelectorAll('*')) {
    const { left, right } = element.getBoundingClientRect();
    if (left < -1 || right > clientWidth + 1) found.push(element.outerHTML.slice(0, 120));
  }
  return found;
})()`;

/** Doubles the font size, as a user can do for all pages. */
const LARGE = `document.documentElement.style.fontSize = '200%'`;
const USUAL = `document.documentElement.style.fontSize = ''`;

/**
 * Checks that the open page is fully in the tested language (by default the pseudo-language), that
 * nothing overflows even at twice the font size, and that axe finds nothing serious.
 * @param names Names of the shop that attributes may contain, because translators may change any
 * part of an attribute.
 */
export async function checkPseudoLanguage(
  window: TestWindow,
  names: readonly string[] = [],
): Promise<void> {
  const { page } = window;
  const { lang, dir } = (await page.evaluate(
    '({ lang: document.documentElement.lang, dir: document.documentElement.dir })',
  )) as { readonly lang: string; readonly dir: string };
  assert.deepEqual([lang, dir], [languageTag(TESTED_LANGUAGE), directionOf(TESTED_LANGUAGE)]);
  const latin = (await page.evaluate(
    `${UNTRANSLATED}(${JSON.stringify(names)})`,
  )) as readonly string[];
  const untranslated = TESTED_LANGUAGE === PSEUDO_LANGUAGE ? latin : englishLeftIn(latin);
  assert.deepEqual(untranslated, [], 'texts that are not in the catalog');
  assert.deepEqual(await page.evaluate(UNKEPT), [], 'sums and hashes without a direction');
  if (TESTED_LANGUAGE === 'ja') assert.deepEqual(await page.evaluate(BAD_LINES), [], 'line breaks');
  assert.deepEqual(await page.evaluate(OVERFLOWING), [], 'what leaves the window');
  await page.evaluate(LARGE);
  assert.deepEqual(await page.evaluate(OVERFLOWING), [], 'what leaves it with large letters');
  await page.evaluate(USUAL);
  await window.checkAccessibility();
}
