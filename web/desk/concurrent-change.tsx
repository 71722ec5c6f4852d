import { type ReactNode, useState } from 'react';
import { Notice } from '../ui/notice.tsx';
import { t } from '../ui/text/t.ts';

/**
 * Remembers the stored values from when a form was opened or last saved. Compares values, because
 * the object's version also rises when another form saves other fields.
 */
export function useOpened<Values>(stored: Values) {
  const [opened, setOpened] = useState(stored);
  return { isStale: JSON.stringify(opened) !== JSON.stringify(stored), setOpened };
}

/**
 * Returns the text below a field in which another user has stored a different value since the form
 * was opened.
 */
export function storedNow({
  isStale,
  stored,
  typed,
}: {
  readonly isStale: boolean;
  readonly stored: string;
  readonly typed: string;
}): string | null {
  if (!isStale || stored === typed) return null;
  return stored === '' ? t('desk.stored_now.nothing') : t('desk.stored_now.value', { stored });
}

/** Warns, above a form, that another user has changed the object since the form was opened. */
export function ChangedMeanwhile({ isStale }: { readonly isStale: boolean }): ReactNode {
  if (!isStale) return null;
  return (
    <Notice tone="warn" role="status">
      <strong>{t('desk.stored_now.heading')}</strong>
      <p>{t('desk.stored_now.text')}</p>
    </Notice>
  );
}
