import type { Answer } from '../data/api.ts';

/** An answer that brought nothing. */
export type Trouble = Exclude<Answer<unknown>, { is: 'done' }>;

/** Where the service's words speak to programs, people get these. */
const WORDS: Readonly<Record<string, string>> = {
  second_factor_required: 'This needs your second factor. Nothing was changed.',
  session_missing: 'You are no longer signed in. Sign in and try again.',
  csrf_token_invalid: 'This page is out of date. Reload it.',
  version_conflict:
    'Someone else changed this in the meantime. Review the current version, then send yours again.',
  idempotency_request_in_progress: 'It is still in progress. Check again in a moment.',
};

/** What happened, and what to do next. */
export function wordsOf(trouble: Trouble): string {
  if (trouble.is === 'not_sent') {
    return 'There is no connection. Nothing was sent. What you typed is still here.';
  }
  if (trouble.is === 'unknown') {
    return 'No response arrived. It may have been done: check before you send it again.';
  }
  const { code, message, param } = trouble.error;
  // The words stand beside the field, which people know by its label.
  return WORDS[code] ?? (param === null ? message : message.replace(param, 'This'));
}

/** The field that a refusal is about: `country` of `details.country`, `scopes` of `scopes[3]`. */
export function fieldOf(trouble: Trouble): string | null {
  if (trouble.is !== 'refused' || trouble.error.param === null) return null;
  const names = trouble.error.param.split(/[.[\]/]+/).filter((name) => /^[a-z]/.test(name));
  return names.at(-1) ?? null;
}

export function isRefusedAs(answer: Answer<unknown>, code: string): boolean {
  return answer.is === 'refused' && answer.error.code === code;
}
