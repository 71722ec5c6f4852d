import type { ReactNode } from 'react';
import { Button } from './button.tsx';
import { formatUsdc } from './money.ts';
import { Notice } from './notice.tsx';
import { t } from './text/t.ts';

export interface RefundCrumbProps {
  readonly left: bigint;
  /** What would remain of it. */
  readonly crumb: bigint;
  readonly onAll: () => void;
}

/** Offers to refund the payment in full, where the rest would be too little to refund later. */
export function RefundCrumb({ left, crumb, onAll }: RefundCrumbProps): ReactNode {
  return (
    <Notice tone="info">
      <p>{t('ui.refund_crumb.text', { sum: formatUsdc(crumb) })}</p>
      <Button onClick={onAll}>{t('ui.refund_crumb.button', { sum: formatUsdc(left) })}</Button>
    </Notice>
  );
}
