import type { ReactNode } from 'react';
import { Notice } from '../../ui/notice.tsx';
import { RESULT_NAMES } from '../../ui/result-names.ts';
import { t } from '../../ui/text/t.ts';
import { WORDS } from '../till-words.ts';
import type { TillContext } from './till-context.ts';

/** Shows that the service cannot be reached, and the effect on the current payment. */
export function OfflineNotice({ view, offline }: Pick<TillContext, 'view' | 'offline'>): ReactNode {
  if (view.reached) return null;
  const { at } = view.till.phase;
  const hints = view.hasNetwork ? WORDS.noAnswerHints : WORDS.offlineHints;
  const isTap = at === 'tapping' || at === 'following';
  return (
    <Notice tone="warn" icon="offline" role="status" data-result={RESULT_NAMES.offline}>
      <strong>{view.hasNetwork ? t(WORDS.noAnswer) : t(WORDS.offline)}</strong>
      <p>{isTap ? t(hints.tap) : (offline.view.outlook ?? t(hints.idle))}</p>
    </Notice>
  );
}
