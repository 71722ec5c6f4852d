import type { ReactNode } from 'react';
import { Notice } from '../../ui/notice.tsx';
import { t } from '../../ui/text/t.ts';
import type { Approval } from '../approval-machine.ts';

export function ApprovalNotice({ flow }: { readonly flow: Approval }): ReactNode {
  if (flow.at === 'editing' && flow.problem !== null) {
    return (
      <Notice tone="bad" role="alert">
        {flow.problem}
      </Notice>
    );
  }
  if (flow.at === 'sending' && flow.sends > 1) {
    return (
      <Notice tone="info" role="status">
        {t('wallet.allow.checking')}
      </Notice>
    );
  }
  if (flow.at === 'waiting') {
    return (
      <Notice tone="info" role="status">
        {t('wallet.allow.waiting')}
      </Notice>
    );
  }
  return null;
}
