import type { ReactNode } from 'react';
import { formatParts, type TextValues } from '#i18n/text-format.ts';
import { Fragment, jsx, jsxs } from './jsx-runtime.ts';
import { messageOf, type TextKey, textLocale } from './t.ts';

/** Renders a tag in a text, for example `Read <guide>the guide</guide>`. */
type Tags = Readonly<Record<string, (text: string) => ReactNode>>;

/** Renders part of a button's label for screen readers only, since other users see the context. */
export const unseen = (text: string): ReactNode =>
  jsx('span', { className: 'unseen', children: text });

/** Renders a catalog text with its tags as elements. */
export function rich(key: TextKey, tags: Tags, values: TextValues = {}): ReactNode {
  const parts = formatParts<ReactNode>(messageOf(key), textLocale(), {
    ...values,
    ...Object.fromEntries(
      Object.entries(tags).map(([name, draw]) => [
        name,
        (inside: readonly unknown[]) => draw(inside.join('')),
      ]),
    ),
  });
  return jsxs(Fragment, { children: parts });
}
