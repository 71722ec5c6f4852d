import { FALLBACK_LANGUAGE } from '#i18n/languages.ts';
import type { Answer } from '../data/api.ts';
import { refusalText } from '../data/refusal-text.ts';
import { t, textLanguage } from '../ui/text/t.ts';

/**
 * A result that is not `done`: the service refused, the request was not sent, or the outcome is
 * unknown.
 */
export type Trouble = Exclude<Answer<unknown>, { is: 'done' }>;

/** Error codes whose API message addresses developers. Users see these texts instead. */
const WORDS = [
  'second_factor_required',
  'session_missing',
  'csrf_token_invalid',
  'version_conflict',
  'idempotency_request_in_progress',
] as const;

export function wordsOf(trouble: Trouble): string {
  if (trouble.is === 'not_sent') {
    return t('desk.answers.not_sent');
  }
  if (trouble.is === 'unknown') {
    return t('desk.answers.unknown');
  }
  const { code, message, param } = trouble.error;
  const own = WORDS.find((one) => one === code);
  if (own !== undefined) return t(`desk.refusal.${own}`);
  // The text appears beside its field, so "This" replaces the field's name.
  const isNamed = param !== null && textLanguage() === FALLBACK_LANGUAGE;
  return isNamed ? message.replace(param, 'This') : refusalText(trouble.error);
}

/**
 * Returns the form field that an error is about: `country` for `details.country`, `scopes` for
 * `scopes[3]`.
 */
export function fieldOf(trouble: Trouble): string | null {
  if (trouble.is !== 'refused' || trouble.error.param === null) return null;
  const names = trouble.error.param.split(/[.[\]/]+/).filter((name) => /^[a-z]/.test(name));
  return names.at(-1) ?? null;
}

export function isRefusedAs(answer: Answer<unknown>, code: string): boolean {
  return answer.is === 'refused' && answer.error.code === code;
}
