import { usdcText } from '#core/sums.ts';
import { textNodes } from './text/text-nodes.ts';

/** Creates an element for pages without a framework. Text is inserted as text, never as markup. */
export function element(
  tag: string,
  attributes: Readonly<Record<string, string>>,
  ...children: readonly (Node | string)[]
): HTMLElement {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children.flatMap((one) => (typeof one === 'string' ? textNodes(one) : [one])));
  return made;
}

export function fact(name: string, value: string): HTMLElement {
  return element('div', { class: 'row' }, element('dt', {}, name), element('dd', {}, value));
}

export function hexFact(name: string, value: string): HTMLElement {
  const code = element('code', { translate: 'no' }, value);
  return element('div', { class: 'row' }, element('dt', {}, name), element('dd', {}, code));
}

export function usdcWords(atoms: bigint): string {
  return usdcText(atoms, 'en');
}

export function timeWords(seconds: number): string {
  return `${new Date(seconds * 1000).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}
