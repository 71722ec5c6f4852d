import { partsOf } from './untranslated-parts.ts';

/**
 * Creates a text for a page without a framework, with elements that protect amounts, ids and names
 * from translators.
 */
export function textNodes(text: string): Node[] {
  return partsOf(text).map(({ is, text: part }) => {
    if (is === 'words') return document.createTextNode(part);
    const fixed = document.createElement('bdi');
    fixed.translate = false;
    fixed.textContent = part;
    return fixed;
  });
}
