import type { ReactNode } from 'react';
import { LANGUAGE_NAMES, languageTag } from '#i18n/languages.ts';
import { Select } from './field.tsx';
import { offeredLanguages, switchLanguage } from './text/switch-language.ts';
import { t, textLanguage } from './text/t.ts';

/** Shows the language menu of the app, or nothing if there is only one language. */
export function LanguageChoice(): ReactNode {
  const offered = offeredLanguages();
  if (offered.length < 2) return null;
  return (
    <Select
      label={t('ui.language')}
      value={textLanguage()}
      onChange={(event) => switchLanguage(event.target.value)}
    >
      {offered.map((language) => (
        <option key={language} value={language} lang={languageTag(language)} translate="no">
          {LANGUAGE_NAMES[language]}
        </option>
      ))}
    </Select>
  );
}
