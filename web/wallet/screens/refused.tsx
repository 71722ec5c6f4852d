import type { ReactNode } from 'react';
import { Notice } from '../../ui/notice.tsx';

/** An error message, or nothing without a problem. */
export function Refused({ problem }: { readonly problem: string | null }): ReactNode {
  if (problem === null) return null;
  return (
    <Notice tone="bad" role="alert">
      {problem}
    </Notice>
  );
}
