import type { ReactNode } from 'react';
import { formatParts, type TextValues } from '#core/text-format.ts';
import { Fragment, jsx, jsxs } from './jsx-runtime.ts';
import { messageOf, type TextKey, textLocale } from './t.ts';

/** What is drawn for a tag of a text: `Read <guide>the guide</guide>`. */
type Tags = Readonly<Record<string, (text: string) => ReactNode>>;

/** For a part of a button's text that only those hear who cannot see what it stands beside. */
export const unseen = (text: string): ReactNode =>
  jsx('span', { className: 'unseen', children: text });

/** A text of the catalog whose tags are elements. */
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
