import type { ElementType, Key, ReactElement, ReactNode } from 'react';
import { jsx as draw, jsxs as drawAll, Fragment, type JSX } from 'react/jsx-runtime';
import { withoutMarks } from '#core/isolates.ts';
import { partsOf, type TextPart } from './fixed.ts';

/**
 * The JSX of these apps: React's, except that every text has an element to itself.
 *
 * A browser that translates a page replaces the page's text nodes with elements of its own. React
 * keeps the text nodes that stand beside other things, to change them and to insert before them:
 * after a translation it changes nodes that are not in the page, so a button kept an old sum, and
 * inserting before one ended the app. The only text in an element is safe, because React then
 * sets the element's whole content. So a text that has siblings is wrapped in a `span` here, and
 * what must not be translated within a text (a sum, an id, a code, a name) in one that says so.
 */
export { Fragment, type JSX };

interface Props {
  readonly children?: unknown;
  readonly className?: unknown;
  readonly [attribute: string]: unknown;
}

/** These hold text and no elements. */
const TEXT_ONLY: ReadonlySet<string> = new Set(['option', 'textarea', 'title']);

/** Names that people gave, and what programs read. */
const UNTRANSLATED: ReadonlySet<string> = new Set(['bdi', 'code', 'pre', 'samp', 'kbd']);

/** Classes of ids and sums. */
const UNTRANSLATED_CLASS = /(?:^| )(?:id|amount)(?: |$)/;

/** Written from left to right in every language, within a line of any direction. */
const LEFT_TO_RIGHT: ReadonlySet<unknown> = new Set(['span', 'a', 'code', 'samp', 'kbd']);

function isText(slot: unknown): slot is string | number | bigint {
  return typeof slot === 'string' || typeof slot === 'number' || typeof slot === 'bigint';
}

function isMarked(value: unknown): boolean {
  return typeof value === 'string' && value.includes('\u2068');
}

function isEmpty(slot: unknown): slot is null | undefined | boolean {
  return slot === null || slot === undefined || typeof slot === 'boolean';
}

function drawPart({ is, text }: TextPart, key?: Key): ReactElement {
  if (is === 'words') return draw('span', { children: text }, key);
  return draw('bdi', { translate: 'no', children: text }, key);
}

/** In one element: in a row of flexible boxes there is no gap within a sentence. */
function sentence(parts: readonly TextPart[], key?: Key): ReactElement {
  const [first] = parts;
  if (first !== undefined && parts.length === 1) return drawPart(first, key);
  return drawAll('span', { children: parts.map((part, at) => drawPart(part, at)) }, key);
}

/** @returns what the only child of an element may be for this text. */
function alone(text: string): ReactNode {
  const parts = partsOf(text);
  return parts.every(({ is }) => is === 'words') ? text : sentence(parts);
}

/** Each run of texts becomes one element; everything else keeps its place, and so its state. */
function apart(children: readonly unknown[]): ReactNode[] {
  const slots: unknown[] = [];
  let run = '';
  let last = 0;
  const close = () => {
    if (run !== '') slots[last] = sentence(partsOf(run), `text${last}`);
    run = '';
  };
  for (const child of children) {
    if (isText(child)) {
      run += child;
      last = slots.length;
      slots.push(null);
      continue;
    }
    if (!isEmpty(child)) close();
    slots.push(Array.isArray(child) ? apart(child) : child);
  }
  close();
  return slots as ReactNode[];
}

function childrenOf(type: unknown, children: unknown, isFixed: boolean): unknown {
  const slots: readonly unknown[] = Array.isArray(children) ? children : [children];
  if (!slots.every((slot) => isText(slot) || isEmpty(slot))) {
    return Array.isArray(children) ? apart(children) : children;
  }
  const text = slots.filter(isText).join('');
  if (text === '') return children;
  // A fragment has no element in which its text could be alone.
  if (type === Fragment) return [sentence(partsOf(text), 'text')];
  return isFixed ? withoutMarks(text) : alone(text);
}

/** Attributes that people see or hear hold text and no elements. */
const TOLD = ['aria-label', 'title', 'placeholder', 'alt', 'value'] as const;

function plainAttributes(props: Props): Props {
  const marked = TOLD.filter((name) => isMarked(props[name]));
  if (marked.length === 0) return props;
  const plain = marked.map((name) => [name, withoutMarks(String(props[name]))]);
  return { ...props, ...Object.fromEntries(plain) };
}

/** Also of components: those of libraries hand their children to elements without us. */
function held(type: unknown, props: Props): Props {
  const { children, className } = props;
  if (typeof type === 'string' && TEXT_ONLY.has(type)) return textOnly(plainAttributes(props));
  const isFixed =
    (typeof type === 'string' && UNTRANSLATED.has(type)) ||
    (typeof className === 'string' && UNTRANSLATED_CLASS.test(className));
  const bare = typeof type === 'string' ? plainAttributes(props) : props;
  const dir = LEFT_TO_RIGHT.has(type) ? { dir: 'ltr' } : {};
  const own = isFixed ? { translate: 'no', ...dir, ...bare } : bare;
  return isEmpty(children) ? own : { ...own, children: childrenOf(type, children, isFixed) };
}

/** As a whole it is translated or it is not. */
function textOnly(props: Props): Props {
  const slots: readonly unknown[] = [props.children].flat();
  const text = slots.filter(isText).join('');
  if (text === '') return props;
  const isFixed = partsOf(text).some(({ is }) => is !== 'words');
  const own = isFixed ? { translate: 'no', ...props } : props;
  return { ...own, children: withoutMarks(text) };
}

function drawHeld(type: ElementType, props: Props, key?: Key): ReactElement {
  return Array.isArray(props.children) ? drawAll(type, props, key) : draw(type, props, key);
}

export function jsx(type: ElementType, props: Props, key?: Key): ReactElement {
  const own = held(type, props);
  // A list whose elements have no keys is still warned of in development.
  return Array.isArray(props.children) ? draw(type, own, key) : drawHeld(type, own, key);
}

export function jsxs(type: ElementType, props: Props, key?: Key): ReactElement {
  return drawHeld(type, held(type, props), key);
}
