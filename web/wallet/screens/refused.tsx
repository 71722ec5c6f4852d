import type { ReactNode } from 'react';
import { Notice } from '../../ui/notice.tsx';

/** Why something was not done; nothing while there is no reason. */
export function Refused({ problem }: { readonly problem: string | null }): ReactNode {
  if (problem === null) return null;
  return (
    <Notice tone="bad" role="alert">
      {problem}
    </Notice>
  );
}
