import type { ReactNode } from 'react';
import { Notice } from '../ui/notice.tsx';
import { t } from '../ui/text/t.ts';

/** Shown below a field if another user has stored a different value meanwhile. */
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

/** Shown above a form whose object another user changed while it was open. */
export function ChangedMeanwhile({ isStale }: { readonly isStale: boolean }): ReactNode {
  if (!isStale) return null;
  return (
    <Notice tone="warn" role="status">
      <strong>{t('desk.stored_now.heading')}</strong>
      <p>{t('desk.stored_now.text')}</p>
    </Notice>
  );
}
