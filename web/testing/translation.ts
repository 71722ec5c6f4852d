import type { BrowserContext } from 'playwright-core';

/** Set to 1: every window of the run translates its pages. */
export const TRANSLATION_SETTING = 'TAPLINE_TEST_TRANSLATED';

/** Sentences of guides name sums and ids as examples. Their code is left alone, as on all pages. */
const GUIDES = `/^\\/docs\\b/.test(location.pathname)`;

/** What is the same in every language: sums, ids, addresses, words of programs. */
const SAME_EVERYWHERE = String.raw`/\d\.\d\d(?![\d.])|0x[\da-f]{4}|\b[a-z]+_[A-Za-z0-9_]+/`;

/**
 * What a browser's translator does to a page, with the words left as they are: each text node is
 * replaced with elements of the translator's, at once and whenever the page changes. Text in
 * `translate="no"` is replaced too, which is more than translators do. The console says as an error
 * what would be wrong for the reader: a text that the page changed where nobody sees it, and one
 * that differs in no language and was left to the translator.
 */
export const TRANSLATE = `(() => {
  const seen = new WeakSet();
  const unseen = new MutationObserver((changes) => {
    for (const { target, oldValue } of changes) {
      const change = '"' + oldValue + '" to "' + target.data + '"';
      console.error('Translated page: unseen change of ' + change);
    }
  });
  const replace = (text) => {
    // Blanks between elements have no words.
    if (seen.has(text) || text.parentElement === null || text.data.trim() === '') return;
    const { parentElement } = text;
    if (parentElement.closest('head, script, style, textarea') !== null) return;
    const isLeft = parentElement.closest('[translate="no"]') === null;
    const isGuide = ${GUIDES} && parentElement.closest('code') === null;
    if (isLeft && !isGuide && ${SAME_EVERYWHERE}.test(text.data)) {
      console.error('Translated page: no translator should see "' + text.data + '"');
    }
    const words = document.createTextNode(text.data);
    seen.add(words);
    const [outer, inner] = [document.createElement('font'), document.createElement('font')];
    inner.append(words);
    outer.append(inner);
    text.replaceWith(outer);
    unseen.observe(text, { characterData: true, characterDataOldValue: true });
  };
  const replaceIn = (node) => {
    if (node instanceof Text) return replace(node);
    const texts = document.createTreeWalker(node, NodeFilter.SHOW_TEXT);
    const all = [];
    while (texts.nextNode() !== null) all.push(texts.currentNode);
    all.forEach(replace);
  };
  if (document.body !== null) replaceIn(document.body);
  new MutationObserver((changes) => {
    for (const { addedNodes } of changes) addedNodes.forEach(replaceIn);
  }).observe(document, { childList: true, subtree: true });
})();`;

/** Call it before the page is opened. */
export async function translatePages(context: BrowserContext): Promise<void> {
  await context.addInitScript(TRANSLATE);
}
