import { partsOf } from './fixed.ts';

/** A text for a page without a framework: elements keep translators from sums, ids and names. */
export function textNodes(text: string): Node[] {
  return partsOf(text).map(({ is, text: part }) => {
    if (is === 'words') return document.createTextNode(part);
    const fixed = document.createElement('bdi');
    fixed.translate = false;
    fixed.textContent = part;
    return fixed;
  });
}
