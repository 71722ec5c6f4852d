import { t } from '../../ui/text/t.ts';
import type { PageKey } from '../page-names.ts';

function wordsIn(text: string): string[] {
  return text
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '');
}

/** The page that all typed words are about, its name before other words; null: there is none. */
export function pageFor<Page extends { readonly key: PageKey; readonly name: string }>(
  typed: string,
  pages: readonly Page[],
): Page | null {
  const asked = wordsIn(typed);
  if (asked.length === 0) return null;
  const fits = (text: string) => {
    const words = wordsIn(text);
    return asked.every((word) => words.some((one) => one.startsWith(word)));
  };
  const named = pages.find(({ name }) => fits(name));
  // Beside its name: what people call a page, or what they come to it for.
  const meant = ({ key, name }: Page) => fits(`${name} ${t(`dashboard.page_words.${key}`)}`);
  return named ?? pages.find(meant) ?? null;
}
