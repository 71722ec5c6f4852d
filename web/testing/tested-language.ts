import { PSEUDO_LANGUAGE, type TextLanguage } from '#core/languages.ts';

/** The setting that `test/long/languages.test.ts` uses to run the tests in a real language. */
export const LANGUAGE_SETTING = 'TAPLINE_TEST_LANGUAGE';

/** The language of the screens in the tests of languages: the pseudo-language unless set. */
export const TESTED_LANGUAGE = (process.env[LANGUAGE_SETTING] ?? PSEUDO_LANGUAGE) as TextLanguage;
