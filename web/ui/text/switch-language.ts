import type { TextLanguage } from '#i18n/languages.ts';

const A_YEAR_S = 31_536_000;

/** Stores the chosen language in a cookie, which the service reads when it renders the page. */
export function switchLanguage(language: string): void {
  const secure = location.protocol === 'https:' ? '; Secure' : '';
  // Does not use `data/root-path.ts`, which only larger apps load.
  const root = new URL('.', document.baseURI).pathname;
  const attributes = `Path=${root}; SameSite=Strict; Max-Age=${A_YEAR_S}${secure}`;
  document.cookie = `tapline_language=${language}; ${attributes}`;
  const page = new URL(location.href);
  page.searchParams.delete('lang');
  history.replaceState(history.state, '', page);
  location.reload();
}

export function offeredLanguages(): readonly TextLanguage[] {
  const meta = document.querySelector<HTMLMetaElement>('meta[name=languages]');
  return (meta?.content ?? '').split(' ') as TextLanguage[];
}
