import type { ReactNode } from 'react';
import { Button } from './button.tsx';
import { formatUsdc } from './money.ts';
import { Notice } from './notice.tsx';

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
      <p>
        This leaves <span translate="no">{formatUsdc(crumb)}</span>, too little to refund later.
        Refund everything instead?
      </p>
      <Button onClick={onAll}>
        Everything: <span translate="no">{formatUsdc(left)}</span>
      </Button>
    </Notice>
  );
}
