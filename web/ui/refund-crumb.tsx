import type { ReactNode } from 'react';
import { Button } from './button.tsx';
import { formatUsdc } from './format-usdc.ts';
import { Notice } from './notice.tsx';
import { t } from './text/t.ts';

export interface RefundCrumbProps {
  readonly left: bigint;
  /** The amount that would remain. */
  readonly crumb: bigint;
  readonly onAll: () => void;
}

/** Offers a full refund if the remainder would be too small to refund later. */
export function RefundCrumb({ left, crumb, onAll }: RefundCrumbProps): ReactNode {
  return (
    <Notice tone="info">
      <p>{t('ui.refund_crumb.text', { sum: formatUsdc(crumb) })}</p>
      <Button onClick={onAll}>{t('ui.refund_crumb.button', { sum: formatUsdc(left) })}</Button>
    </Notice>
  );
}
