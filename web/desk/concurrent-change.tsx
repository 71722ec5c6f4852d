import { type ReactNode, useState } from 'react';
import { Notice } from '../ui/notice.tsx';
import { t } from '../ui/text/t.ts';

/**
 * Remembers the stored values that a form was opened or last saved with. Compares values, because
 * the version of an object also rises when another form saves other fields of it.
 */
export function useOpened<Values>(stored: Values) {
  const [opened, setOpened] = useState(stored);
  return { isStale: JSON.stringify(opened) !== JSON.stringify(stored), setOpened };
}

/** Returns the text below a field that another user has stored a different value for meanwhile. */
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

/** Says above a form that another user changed its object while it was open. */
export function ChangedMeanwhile({ isStale }: { readonly isStale: boolean }): ReactNode {
  if (!isStale) return null;
  return (
    <Notice tone="warn" role="status">
      <strong>{t('desk.stored_now.heading')}</strong>
      <p>{t('desk.stored_now.text')}</p>
    </Notice>
  );
}
