import { type ReactNode, useEffect, useId, useState } from 'react';
import { canUsePasskeys } from '../data/passkey.ts';
import type { PeopleApi, Session } from '../data/people-api.ts';
import { Button } from '../ui/button.tsx';
import { TextField } from '../ui/field.tsx';
import { t } from '../ui/text/t.ts';
import { CurrentPassword } from './current-password.tsx';
import { FactorForm, PasskeyButton } from './factor-form.tsx';
import { Form } from './form.tsx';
import { PasskeyAddress } from './passkey-address.tsx';
import { useSend } from './use-send.ts';
import { useTextForm } from './use-text-form.ts';

export interface SignInProps {
  readonly people: PeopleApi;
  /** Called when the user has signed in, even if the second factor is still missing. */
  readonly onSession: (session: Session) => void;
}

export function SignInForm({ people, onSession }: SignInProps): ReactNode {
  const { texts, sending, field } = useTextForm({ email: '', password: '' });
  const id = useId();
  useEffect(() => document.getElementById(id)?.focus(), [id]);
  const signIn = async () => {
    const body = { ...texts, email: texts.email.trim() };
    if (body.email === '') return sending.refuse('email', t('desk.field.email_missing'));
    if (body.password === '') return sending.refuse('password', t('desk.sign_in.password_missing'));
    const session = await sending.send(() => people.call('POST /session', { body }));
    if (session !== null) onSession(session);
  };
  return (
    <div className="stack">
      {canUsePasskeys() ? (
        <PasskeyButton people={people} route="sign_in" onDone={onSession} />
      ) : (
        <PasskeyAddress />
      )}
      <Form
        sending={sending}
        onSend={signIn}
        send={t('desk.sign_in.button')}
        data-name="Sign in"
        wide
      >
        <TextField
          id={id}
          data-name="Email"
          label={t('desk.field.email')}
          type="email"
          autoComplete="username"
          {...field('email')}
        />
        <CurrentPassword {...field('password')} />
      </Form>
    </div>
  );
}

/**
 * Starts the recovery from a lost second factor: an email, followed by a waiting period of days in
 * which the owner can object.
 */
function LostFactor({ people }: { readonly people: PeopleApi }): ReactNode {
  const [isSent, setIsSent] = useState(false);
  const sending = useSend();
  const ask = async () => {
    const sent = await sending.send(() => people.call('POST /session/factor_recovery'));
    if (sent !== null) setIsSent(true);
  };
  if (isSent) {
    return <p role="status">{t('desk.sign_in.lost_factor.sent')}</p>;
  }
  return (
    <>
      {sending.problem === null ? null : (
        <p className="field-error" role="alert">
          {sending.problem}
        </p>
      )}
      <Button kind="quiet" busy={sending.busy} onClick={ask}>
        {t('desk.sign_in.lost_factor.button')}
      </Button>
    </>
  );
}

export interface SecondStepProps extends SignInProps {
  readonly session: Session;
  readonly onCancel: () => void;
}

export function SecondStep({ people, session, onSession, onCancel }: SecondStepProps): ReactNode {
  return (
    <div className="stack">
      <p className="soft">{t('desk.sign_in.as', { email: session.user.email })}</p>
      <FactorForm
        people={people}
        factors={session.user.factors}
        send={t('desk.sign_in.button')}
        data-name="Sign in"
        onProven={onSession}
      />
      <LostFactor people={people} />
      <Button kind="quiet" onClick={onCancel}>
        {t('desk.sign_in.start_over.button')}
      </Button>
    </div>
  );
}
