import type { ReactNode } from 'react';
import { Notice } from '../../ui/notice.tsx';

/** Shows an error message, or nothing if there is no problem. */
export function ProblemNotice({ problem }: { readonly problem: string | null }): ReactNode {
  if (problem === null) return null;
  return (
    <Notice tone="bad" role="alert">
      {problem}
    </Notice>
  );
}
