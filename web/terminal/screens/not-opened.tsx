import type { ReactNode } from 'react';
import { Notice } from '../../ui/notice.tsx';
import type { Phase } from '../till-phases.ts';
import { remarkWords } from '../till-words.ts';

/** Explains why the last payment was not opened. */
export function NotOpened({ phase }: { readonly phase: Phase }): ReactNode {
  if (phase.at !== 'keypad' || phase.remark === null) return null;
  const { title, hint } = remarkWords(phase.remark);
  return (
    <Notice tone="warn" role="alert">
      <strong>{title}</strong>
      <p>{hint}</p>
    </Notice>
  );
}
