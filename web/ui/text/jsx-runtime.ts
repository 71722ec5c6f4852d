import type { ElementType, Key, ReactElement, ReactNode } from 'react';
import { jsx as draw, jsxs as drawAll, Fragment, type JSX } from 'react/jsx-runtime';
import { withoutIsolates } from '#i18n/bidi-isolates.ts';
import { partsOf, type TextPart } from './untranslated-parts.ts';

/**
 * A JSX runtime like React's, but it gives every text an element of its own.
 *
 * A browser that translates a page replaces text nodes with its own elements. React keeps
 * references to text nodes that have siblings, to update them and to insert before them. After a
 * translation those nodes are no longer in the page: a button kept an old amount, and an insertion
 * crashed the app. Only a text that is an element's single child is safe, because React then sets
 * the element's whole content. So this runtime wraps texts with siblings in a `span`, and the parts
 * of a text that must not be translated (an amount, an id, a code, a name) in one with
 * `translate="no"`.
 */
export { Fragment, type JSX };

interface Props {
  readonly children?: unknown;
  readonly className?: unknown;
  readonly [attribute: string]: unknown;
}

/** Elements that may contain text but no elements. */
const TEXT_ONLY: ReadonlySet<string> = new Set(['option', 'textarea', 'title']);

/** Elements for names and for code. */
const UNTRANSLATED: ReadonlySet<string> = new Set(['bdi', 'code', 'pre', 'samp', 'kbd']);

/** Matches the classes of ids and amounts. */
const UNTRANSLATED_CLASS = /(?:^| )(?:id|amount)(?: |$)/;

/** Values that are written from left to right, within text of either direction. */
const LEFT_TO_RIGHT: ReadonlySet<unknown> = new Set(['span', 'a', 'code', 'samp', 'kbd']);

function isText(slot: unknown): slot is string | number | bigint {
  return typeof slot === 'string' || typeof slot === 'number' || typeof slot === 'bigint';
}

function hasIsolates(value: unknown): boolean {
  return typeof value === 'string' && value.includes('\u2068');
}

function isEmpty(slot: unknown): slot is null | undefined | boolean {
  return slot === null || slot === undefined || typeof slot === 'boolean';
}

function drawPart({ is, text }: TextPart, key?: Key): ReactElement {
  if (is === 'words') return draw('span', { children: text }, key);
  return draw('bdi', { translate: 'no', children: text }, key);
}

/** Wraps the parts in one element, because flexbox drops spaces between items. */
function sentence(parts: readonly TextPart[], key?: Key): ReactElement {
  const [first] = parts;
  if (first !== undefined && parts.length === 1) return drawPart(first, key);
  return drawAll('span', { children: parts.map((part, at) => drawPart(part, at)) }, key);
}

/** Wraps the text so that it is an element's only child. */
function alone(text: string): ReactNode {
  const parts = partsOf(text);
  return parts.every(({ is }) => is === 'words') ? text : sentence(parts);
}

/**
 * Wraps each run of texts in one element. Everything else keeps its position, and with it its
 * state.
 */
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
  // A fragment has no element that could hold a single text.
  if (type === Fragment) return [sentence(partsOf(text), 'text')];
  return isFixed ? withoutIsolates(text) : alone(text);
}

/** Attributes that users see or hear, which hold text only. */
const TEXT_ATTRIBUTES = ['aria-label', 'title', 'placeholder', 'alt', 'value'] as const;

function plainAttributes(props: Props): Props {
  const isolated = TEXT_ATTRIBUTES.filter((name) => hasIsolates(props[name]));
  if (isolated.length === 0) return props;
  const plain = isolated.map((name) => [name, withoutIsolates(String(props[name]))]);
  return { ...props, ...Object.fromEntries(plain) };
}

/**
 * Protects the texts in an element's children. Also applies to components, because library
 * components pass children to elements without this runtime.
 */
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

/** Marks the whole element as translatable or not. */
function textOnly(props: Props): Props {
  const slots: readonly unknown[] = [props.children].flat();
  const text = slots.filter(isText).join('');
  if (text === '') return props;
  const isFixed = partsOf(text).some(({ is }) => is !== 'words');
  const own = isFixed ? { translate: 'no', ...props } : props;
  return { ...own, children: withoutIsolates(text) };
}

function drawHeld(type: ElementType, props: Props, key?: Key): ReactElement {
  return Array.isArray(props.children) ? drawAll(type, props, key) : draw(type, props, key);
}

export function jsx(type: ElementType, props: Props, key?: Key): ReactElement {
  const own = held(type, props);
  // React still warns in development about lists without keys.
  return Array.isArray(props.children) ? draw(type, own, key) : drawHeld(type, own, key);
}

export function jsxs(type: ElementType, props: Props, key?: Key): ReactElement {
  return drawHeld(type, held(type, props), key);
}
