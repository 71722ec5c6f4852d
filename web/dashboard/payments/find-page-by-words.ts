import { t } from '../../ui/text/t.ts';
import type { PageKey } from '../page-names.ts';

function wordsIn(text: string): string[] {
  return text
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '');
}

/** Returns the page that matches all typed words, by its name first, or `null` if none does. */
export function pageFor<Page extends { readonly key: PageKey; readonly name: string }>(
  typed: string,
  pages: readonly Page[],
): Page | null {
  const typedWords = wordsIn(typed);
  if (typedWords.length === 0) return null;
  const fits = (text: string) => {
    const words = wordsIn(text);
    return typedWords.every((word) => words.some((one) => one.startsWith(word)));
  };
  const named = pages.find(({ name }) => fits(name));
  // Also matches other words for a page, or for the task that it serves.
  const meant = ({ key, name }: Page) => fits(`${name} ${t(`dashboard.page_words.${key}`)}`);
  return named ?? pages.find(meant) ?? null;
}
