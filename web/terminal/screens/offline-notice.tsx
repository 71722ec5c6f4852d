import type { ReactNode } from 'react';
import { Notice } from '../../ui/notice.tsx';
import { RESULT_NAMES } from '../../ui/result-names.ts';
import { t } from '../../ui/text/t.ts';
import type { TillView } from '../till.ts';
import { WORDS } from '../words.ts';

/** Shows that the service cannot be reached, and what that means for the current payment. */
export function OfflineNotice({ view }: { readonly view: TillView }): ReactNode {
  if (view.reached) return null;
  const { at } = view.till.phase;
  const hints = view.hasNetwork ? WORDS.noAnswerHints : WORDS.offlineHints;
  return (
    <Notice tone="warn" icon="offline" role="status" data-result={RESULT_NAMES.offline}>
      <strong>{view.hasNetwork ? t(WORDS.noAnswer) : t(WORDS.offline)}</strong>
      <p>{t(hints[at === 'tapping' || at === 'following' ? 'tap' : 'idle'])}</p>
    </Notice>
  );
}
