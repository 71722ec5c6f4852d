import { type ReactNode, useState } from 'react';
import type { Session } from '../data/people.ts';
import { Dialog } from '../ui/dialog.tsx';
import { SecondStep, SignInForm, type SignInProps } from './sign-in.tsx';

/** Over the page as it stands: nothing that was typed is lost. */
export function ComeBack({ people, onSession }: SignInProps): ReactNode {
  const [half, setHalf] = useState<Session | null>(null);
  const take = (session: Session) =>
    session.status === 'signed_in' ? onSession(session) : setHalf(session);
  return (
    <Dialog title="Your session has ended" onClose={() => location.reload()}>
      <p className="soft">Sign in again to continue where you left off.</p>
      {half === null ? (
        <SignInForm people={people} onSession={take} />
      ) : (
        <SecondStep
          people={people}
          session={half}
          onSession={take}
          onCancel={() => setHalf(null)}
        />
      )}
    </Dialog>
  );
}
