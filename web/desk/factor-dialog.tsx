import { type ReactNode, useCallback, useRef, useState } from 'react';
import { Dialog } from '../ui/dialog.tsx';
import { partOf } from '../ui/part.ts';
import { useDesk } from './desk-context.ts';
import { FactorContext } from './factor-context.ts';
import { FactorForm } from './factor-form.tsx';

const TotpSetup = partOf(async () => (await import('./totp-setup.tsx')).TotpSetup);

/** Lets every form ask for a fresh second factor, in place: what was typed stays. */
export function FactorProvider({ children }: { readonly children: ReactNode }): ReactNode {
  const { refresh } = useDesk();
  const [isAsking, setIsAsking] = useState(false);
  const answer = useRef<(proven: boolean) => void>(() => {});
  const prove = useCallback(async () => {
    // A factor may have been set up in another window since this page read the session.
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

function FactorDialog({ onClose }: { readonly onClose: (proven: boolean) => void }): ReactNode {
  const { people, session, refresh } = useDesk();
  // What is set up in this dialog does not change what the dialog asks.
  const [factors] = useState(session.user.factors);
  const cancel = () => onClose(false);
  const done = () => {
    void refresh();
    onClose(true);
  };
  if (factors.first_choice === null) {
    return (
      <Dialog title="Set up a second factor first" onClose={cancel}>
        <TotpSetup asksPassword onDone={done} onCancel={cancel} />
      </Dialog>
    );
  }
  return (
    <Dialog title="Confirm it’s you" onClose={cancel}>
      <FactorForm
        people={people}
        factors={factors}
        send="Confirm"
        onProven={done}
        onCancel={cancel}
      />
    </Dialog>
  );
}
