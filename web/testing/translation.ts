import type { BrowserContext } from 'playwright-core';

/** Setting: if it is 1, every window of the run simulates a translating browser. */
export const TRANSLATION_SETTING = 'TAPLINE_TEST_TRANSLATED';

/**
 * True on guides, which contain amounts and ids as examples in sentences. As on all pages, their
 * code is left alone.
 */
const GUIDES = `/^\\/docs\\b/.test(location.pathname)`;

/**
 * Matches texts that are the same in every language: amounts (also `¥250` and `KWD 2.500`), ids,
 * addresses, names from the API.
 */
const SAME_EVERYWHERE = `/${[
  String.raw`\d\.\d\d(?![\d.])`,
  String.raw`\p{Sc}|\b[A-Z]{3}\u00a0`,
  String.raw`0x[\da-f]{4}`,
  String.raw`\b[a-z]+_[A-Za-z0-9_]+`,
].join('|')}/u`;

/**
 * Simulates a browser's translator without changing words: it replaces each text node with its own
 * elements, immediately and on every change of the page. It also replaces text in `translate="no"`,
 * which real translators do not. It logs an error for text that would be wrong for the reader: text
 * that the page updates where the user no longer sees it, and language-independent text that a
 * translator could change.
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
    // Spaces between elements contain no words.
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

/** Adds the translator. Call it before the page is opened. */
export async function translatePages(context: BrowserContext): Promise<void> {
  await context.addInitScript(TRANSLATE);
}
