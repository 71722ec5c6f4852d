import { type ReactNode, useState, useSyncExternalStore } from 'react';
import { Link } from 'wouter';
import type { Answer } from '../data/api.ts';
import type { PeopleApi } from '../data/people-api.ts';
import { TextField } from '../ui/field.tsx';
import { Notice } from '../ui/notice.tsx';
import { t } from '../ui/text/t.ts';
import { rich } from '../ui/text/tagged-text.ts';
import { Form } from './form.tsx';
import { Sheet } from './single-task-page.tsx';
import { useTextForm } from './use-text-form.ts';

/** Returns the token in the URL fragment of an emailed link, or `null` without one. */
function tokenInLink(): string | null {
  return new URLSearchParams(location.hash.slice(1)).get('token');
}

function onLinkChanged(changed: () => void): () => void {
  window.addEventListener('hashchange', changed);
  return () => window.removeEventListener('hashchange', changed);
}

/**
 * Returns the token in the link's fragment, which no server sees. Follows changes of the fragment,
 * because pasting another link into the same tab does not reload the page.
 */
export function useTokenInLink(): string | null {
  return useSyncExternalStore(onLinkChanged, tokenInLink);
}

/** @param link The emailed link, which a sandbox shows on screen. */
export function Sent({
  children,
  link = null,
}: {
  readonly children: string;
  readonly link?: string | null;
}): ReactNode {
  return (
    <Notice tone="good" role="status">
      <strong>{t('desk.by_mail.sent.heading')}</strong>
      <p>{children}</p>
      {link === null ? null : (
        <p className="small">
          {rich('desk.by_mail.sandbox_link', {
            link: () => (
              <a className="id" href={link}>
                {link}
              </a>
            ),
          })}
        </p>
      )}
    </Notice>
  );
}

interface AddressFormProps<T> {
  readonly send: string;
  readonly request: (email: string) => Promise<Answer<T>>;
  readonly sent: string;
  readonly onSent?: (answer: T) => void;
}

export function AddressForm<T>({ send, request, sent, onSent }: AddressFormProps<T>): ReactNode {
  const [isSent, setIsSent] = useState(false);
  const { texts, sending, field } = useTextForm({ email: '' });
  const ask = async () => {
    const email = texts.email.trim();
    if (email === '') return sending.refuse('email', t('desk.field.email_missing'));
    const answer = await sending.send(() => request(email));
    if (answer === null) return;
    setIsSent(true);
    onSent?.(answer);
  };
  if (isSent) return <Sent>{sent}</Sent>;
  return (
    <Form sending={sending} onSend={ask} send={send} wide>
      <TextField
        data-name="Email"
        label={t('desk.field.email')}
        type="email"
        autoComplete="email"
        {...field('email')}
      />
    </Form>
  );
}

export const newPassword = () =>
  ({
    'data-name': 'Password',
    label: t('desk.field.password'),
    type: 'password',
    autoComplete: 'new-password',
    hint: t('desk.field.new_password_hint'),
  }) as const;

export interface ResetPasswordProps {
  readonly people: PeopleApi;
  /** Path of the sign-in page. */
  readonly back: string;
}

/** Emails a link. When the user opens the link, asks for the new password and sets it. */
export function ResetPassword({ people, back }: ResetPasswordProps): ReactNode {
  const token = useTokenInLink();
  return (
    <Sheet title={t('desk.field.new_password')}>
      {token === null ? (
        <AddressForm
          send={t('desk.by_mail.send_link')}
          request={(email) => people.call('POST /password_reset', { body: { email } })}
          sent={t('desk.by_mail.sent')}
        />
      ) : (
        <CompleteReset people={people} token={token} />
      )}
      <p>
        <Link href={back}>{t('desk.by_mail.back')}</Link>
      </p>
    </Sheet>
  );
}

interface CompleteResetProps {
  readonly people: PeopleApi;
  readonly token: string;
}

function CompleteReset({ people, token }: CompleteResetProps): ReactNode {
  const [isDone, setIsDone] = useState(false);
  const { texts, sending, field } = useTextForm({ password: '' });
  const reset = async () => {
    const body = { token, ...texts };
    const done = await sending.send(() => people.call('POST /password_reset/complete', { body }));
    if (done !== null) setIsDone(true);
  };
  if (isDone) {
    return (
      <Notice tone="good" role="status">
        <strong>{t('desk.by_mail.reset.heading')}</strong>
        <p>{t('desk.by_mail.reset.text')}</p>
      </Notice>
    );
  }
  return (
    <Form sending={sending} onSend={reset} send={t('desk.button.save')} wide>
      <TextField {...newPassword()} {...field('password')} />
    </Form>
  );
}
