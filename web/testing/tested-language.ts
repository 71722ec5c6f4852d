import { PSEUDO_LANGUAGE, type TextLanguage } from '#i18n/languages.ts';

/** Setting with which `test/long/languages.test.ts` runs the tests in a real language. */
export const LANGUAGE_SETTING = 'TAPLINE_TEST_LANGUAGE';

/** The language in which the language tests run: the pseudo-language by default. */
export const TESTED_LANGUAGE = (process.env[LANGUAGE_SETTING] ?? PSEUDO_LANGUAGE) as TextLanguage;
