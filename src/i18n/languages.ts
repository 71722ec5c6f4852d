/**
 * The languages of screens for shops and customers. The API and the documentation are in English.
 */
export const LANGUAGES = ['en', 'de', 'fr', 'es', 'pt', 'ja', 'ar'] as const;
export type Language = (typeof LANGUAGES)[number];

/**
 * The pseudo-language: English with accents, 40 % longer, from right to left. It reveals texts that
 * are missing from the catalog and lines that are too short. Only sandboxes offer it.
 */
export const PSEUDO_LANGUAGE = 'qps';
export type TextLanguage = Language | typeof PSEUDO_LANGUAGE;

export const FALLBACK_LANGUAGE: Language = 'en';

/**
 * Returns the locale for `Intl`, from a language or a browser's tag such as `ar-EG`. Arabic has
 * Latin digits and the Gregorian calendar in all regions, so that screen, receipt and mail of a
 * sale agree. The pseudo-language uses Arabic, so that dates contain no English letters.
 */
export function localeOf(tag: string): string {
  const locale = new Intl.Locale(tag === PSEUDO_LANGUAGE ? 'ar' : tag);
  if (locale.language !== 'ar') return tag;
  return new Intl.Locale(locale, { calendar: 'gregory', numberingSystem: 'latn' }).toString();
}

/**
 * Returns the value of the `lang` attribute. The pseudo-language counts as a private variant of
 * English, because screen readers would not know a tag of its own.
 */
export function languageTag(language: string): string {
  return language === PSEUDO_LANGUAGE ? `en-x-${PSEUDO_LANGUAGE}` : language;
}

const RIGHT_TO_LEFT: ReadonlySet<string> = new Set(['ar', PSEUDO_LANGUAGE]);

export function directionOf(language: string): 'ltr' | 'rtl' {
  return RIGHT_TO_LEFT.has(language) ? 'rtl' : 'ltr';
}

/** The languages' own names, for a language menu. */
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

/** Maximum number of languages that are read from a header: more than any browser sends. */
const MOST_WISHES = 32;

const WISH = /^\s*([a-z]{1,8})(?:-[a-z\d]{1,8})*\s*(?:;\s*q\s*=\s*(\d(?:\.\d{0,3})?)\s*)?$/i;

/**
 * Returns the languages of an `Accept-Language` header, most preferred first. A weight of 0
 * excludes a language.
 */
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
  /**
   * Languages chosen by the user: first from the URL (`?lang=`), then from this browser's storage.
   */
  readonly chosen?: readonly (string | undefined)[];
  /** The header `Accept-Language`. */
  readonly accept?: string | undefined;
  /** The account's language. */
  readonly account?: string | null | undefined;
}

/** Returns the first preferred language that is offered; English if there is none. */
export function chooseLanguage(
  { chosen = [], accept = '', account }: LanguageWishes,
  offered: readonly TextLanguage[],
): TextLanguage {
  const wished = chosen.map((wish = '') => wishesOf(wish)[0]);
  for (const wish of [...wished, ...wishesOf(accept), account]) {
    const match = offered.find((language) => language === wish);
    if (match !== undefined) return match;
  }
  return FALLBACK_LANGUAGE;
}

export interface PageInLanguage {
  readonly html: string;
  readonly language: TextLanguage;
}

/** @param account the language of the page's account; `null` if it has not chosen one */
export type PageFor = (account: string | null) => PageInLanguage;
