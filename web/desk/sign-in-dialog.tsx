import { type ReactNode, useState } from 'react';
import type { Session } from '../data/people-api.ts';
import { Dialog } from '../ui/dialog.tsx';
import { t } from '../ui/text/t.ts';
import { SecondStep, SignInForm, type SignInProps } from './sign-in.tsx';

/** Asks the user to sign in, over the current page, so that typed input is not lost. */
export function SignInDialog({ people, onSession }: SignInProps): ReactNode {
  const [half, setHalf] = useState<Session | null>(null);
  const take = (session: Session) =>
    session.status === 'signed_in' ? onSession(session) : setHalf(session);
  return (
    <Dialog title={t('desk.come_back.heading')} onClose={() => location.reload()}>
      <p className="soft">{t('desk.come_back.text')}</p>
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
