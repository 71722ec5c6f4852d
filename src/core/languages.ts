/** What screens for shops and customers may be written in. API and documents are English. */
export const LANGUAGES = ['en', 'de', 'fr', 'es', 'pt', 'ja', 'ar'] as const;
export type Language = (typeof LANGUAGES)[number];

/**
 * The pseudo-language: English that is accented, 40 % longer and drawn from right to left. It shows
 * which text is missing from the catalog, and which line has no room. A sandbox offers it.
 */
export const PSEUDO_LANGUAGE = 'qps';
export type TextLanguage = Language | typeof PSEUDO_LANGUAGE;

export const FALLBACK_LANGUAGE: Language = 'en';

/**
 * For `Intl`. Numbers and days of the pseudo-language are Arabic with Latin digits: no letter of
 * English stands in them.
 */
export function localeOf(language: string): string {
  return language === PSEUDO_LANGUAGE ? 'ar-u-nu-latn' : language;
}

/**
 * For `lang`: the pseudo-language is English of a private kind. A tag of its own would be unknown
 * to screen readers.
 */
export function languageTag(language: string): string {
  return language === PSEUDO_LANGUAGE ? `en-x-${PSEUDO_LANGUAGE}` : language;
}

const RIGHT_TO_LEFT: ReadonlySet<string> = new Set(['ar', PSEUDO_LANGUAGE]);

export function directionOf(language: string): 'ltr' | 'rtl' {
  return RIGHT_TO_LEFT.has(language) ? 'rtl' : 'ltr';
}

/** In their own words, for a choice of languages. */
export const LANGUAGE_NAMES: Readonly<Record<TextLanguage, string>> = {
  en: 'English',
  de: 'Deutsch',
  fr: 'Français',
  es: 'Español',
  pt: 'Português',
  ja: '日本語',
  ar: 'العربية',
  qps: 'Pseudo',
};

/** No browser sends more, and a header is not read without end. */
const MOST_WISHES = 32;

const WISH = /^\s*([a-z]{1,8})(?:-[a-z\d]{1,8})*\s*(?:;\s*q\s*=\s*(\d(?:\.\d{0,3})?)\s*)?$/i;

/** The languages of an `Accept-Language`, the most wanted first. Weight 0 is no wish. */
export function wishesOf(accept: string): string[] {
  return accept
    .split(',', MOST_WISHES)
    .flatMap((part) => {
      const [, language = '', weight = '1'] = WISH.exec(part) ?? [];
      return language === '' ? [] : [{ language: language.toLowerCase(), weight: Number(weight) }];
    })
    .filter(({ weight }) => weight > 0 && weight <= 1)
    .sort((one, other) => other.weight - one.weight)
    .map(({ language }) => language);
}

export interface LanguageWishes {
  /** Of the address (`?lang=`), then what this browser has kept. */
  readonly chosen?: readonly (string | undefined)[];
  /** The header `Accept-Language`. */
  readonly accept?: string | undefined;
  /** The account's. */
  readonly account?: string | null | undefined;
}

/** The first wish that is offered; English where none is. */
export function chooseLanguage(
  { chosen = [], accept = '', account }: LanguageWishes,
  offered: readonly TextLanguage[],
): TextLanguage {
  const wished = chosen.map((wish = '') => wishesOf(wish)[0]);
  for (const wish of [...wished, ...wishesOf(accept), account]) {
    const found = offered.find((language) => language === wish);
    if (found !== undefined) return found;
  }
  return FALLBACK_LANGUAGE;
}

/** A page in the reader's language. */
export interface PageInLanguage {
  readonly html: string;
  readonly language: TextLanguage;
}

/** @param account the language of the page's account; `null` if it has not chosen one */
export type PageFor = (account: string | null) => PageInLanguage;
