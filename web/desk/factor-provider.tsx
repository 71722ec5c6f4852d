import { type ReactNode, useCallback, useRef, useState } from 'react';
import { partOf } from '../ui/lazy-part.ts';
import { useDesk } from './desk-context.ts';
import { FactorContext } from './factor-context.ts';

const FactorDialog = partOf(async () => (await import('./factor-dialog.tsx')).FactorDialog);

/** Lets any form ask for a fresh second factor in a dialog, without losing the form's input. */
export function FactorProvider({ children }: { readonly children: ReactNode }): ReactNode {
  const { refresh } = useDesk();
  const [isAsking, setIsAsking] = useState(false);
  const answer = useRef<(proven: boolean) => void>(() => {});
  const prove = useCallback(async () => {
    // Another window may have set up a factor since this page loaded the session.
    await refresh();
    setIsAsking(true);
    return new Promise<boolean>((resolve) => {
      answer.current = resolve;
    });
  }, [refresh]);
  const close = (proven: boolean) => {
    setIsAsking(false);
    answer.current(proven);
  };
  return (
    <FactorContext value={prove}>
      {children}
      {isAsking ? <FactorDialog onClose={close} /> : null}
    </FactorContext>
  );
}
