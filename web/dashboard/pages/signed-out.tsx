import { type ReactNode, useEffect, useState } from 'react';
import { Link } from 'wouter';
import type { PeopleApi } from '../../data/people-api.ts';
import { createCall } from '../../data/typed-calls.ts';
import type { LookUpInvitationResponse, Operations } from '../../data/types/dashboard.ts';
import { AddressForm, newPassword, Sent, useTokenInLink } from '../../desk/email-link-pages.tsx';
import { Form } from '../../desk/form.tsx';
import { Sheet } from '../../desk/single-task-page.tsx';
import { useSend } from '../../desk/use-send.ts';
import { useTextForm } from '../../desk/use-text-form.ts';
import { TextField } from '../../ui/field.tsx';
import { Notice } from '../../ui/notice.tsx';
import { t } from '../../ui/text/t.ts';
import { rich } from '../../ui/text/tagged-text.ts';
import { type ShopStart, ShopStartFields } from '../sessions/shop-start.tsx';

/**
 * Pages for users who are not signed in. A link in an email opens each page, or the page sends such
 * a link.
 */

interface OutsideProps {
  readonly people: PeopleApi;
}

function callOf(people: PeopleApi) {
  return createCall<Operations, '/dashboard/v1'>(people.api);
}

/** Reloads the session as if the page had just been opened. */
function enter(people: PeopleApi): void {
  localStorage.setItem(`tapline ${people.realm} signed in`, 'yes');
  location.assign(new URL('dashboard', document.baseURI));
}

export function SignUp({ people }: OutsideProps): ReactNode {
  const token = useTokenInLink();
  const [link, setLink] = useState<string | null>(null);
  const call = callOf(people);
  return (
    <Sheet title={t('dashboard.button.open_an_account')}>
      {link === null ? null : <Sent link={link}>{t('dashboard.outside.sign_up.sent')}</Sent>}
      {token === null && link === null ? (
        <AddressForm
          send={t('desk.by_mail.send_link')}
          request={(email) => call('POST /sign_up', { body: { email } })}
          sent={t('dashboard.outside.sign_up.sent')}
          onSent={(answer) => {
            if (answer.link === undefined) return;
            setLink(answer.link);
            location.hash = new URL(answer.link).hash;
          }}
        />
      ) : token === null ? null : (
        <CompleteSignUp people={people} token={token} />
      )}
      <p>
        <Link href="/dashboard">{t('desk.by_mail.back')}</Link>
      </p>
    </Sheet>
  );
}

interface TokenProps extends OutsideProps {
  readonly token: string;
}

function CompleteSignUp({ people, token }: TokenProps): ReactNode {
  const { texts, sending, field } = useTextForm({ name: '', account_name: '', password: '' });
  const [shop, setShop] = useState<ShopStart>({});
  const open = async () => {
    const [name, accountName] = [texts.name.trim(), texts.account_name.trim()];
    if (name === '') return sending.refuse('name', t('dashboard.outside.sign_up.name_missing'));
    if (accountName === '')
      return sending.refuse('account_name', t('dashboard.outside.sign_up.business_missing'));
    const { password } = texts;
    const body = { token, name, account_name: accountName, password, ...shop };
    const session = await sending.send(() => callOf(people)('POST /sign_up/complete', { body }));
    if (session !== null) enter(people);
  };
  return (
    <Form sending={sending} onSend={open} send={t('dashboard.button.open_account')} wide>
      <TextField label={t('dashboard.field.your_name')} autoComplete="name" {...field('name')} />
      <TextField
        label={t('dashboard.field.business_name')}
        autoComplete="organization"
        hint={t('dashboard.field.business_name_hint')}
        {...field('account_name')}
      />
      <TextField {...newPassword()} {...field('password')} />
      <ShopStartFields onShop={setShop} problemAt={sending.problemAt} />
    </Form>
  );
}

export function Invitation({ people }: OutsideProps): ReactNode {
  const token = useTokenInLink();
  const [invitation, setInvitation] = useState<LookUpInvitationResponse | null>(null);
  const sending = useSend();
  const { send } = sending;
  useEffect(() => {
    if (token === null) return;
    const look = () => callOf(people)('POST /invitations/lookup', { body: { token } });
    void send(look).then(setInvitation);
  }, [people, token, send]);
  return (
    <Sheet title={t('dashboard.outside.invitation.heading')}>
      {token === null || sending.problem !== null ? (
        <Notice tone="bad" role="alert">
          <p>{sending.problem ?? t('dashboard.outside.invitation.incomplete')}</p>
        </Notice>
      ) : null}
      {token !== null && invitation !== null ? (
        <AcceptInvitation people={people} token={token} found={invitation} />
      ) : null}
    </Sheet>
  );
}

interface AcceptProps extends TokenProps {
  readonly found: LookUpInvitationResponse;
}

function AcceptInvitation({ people, token, found }: AcceptProps): ReactNode {
  const { texts, sending, field } = useTextForm({ name: '', password: '' });
  const { account_name: account, role, email, has_user: hasUser } = found;
  const accept = async () => {
    const { name, password } = texts;
    const body = hasUser ? { token } : { token, name: name.trim(), password };
    const joined = await sending.send(() => callOf(people)('POST /invitations/accept', { body }));
    if (joined !== null) enter(people);
  };
  return (
    <Form
      sending={sending}
      onSend={accept}
      send={t('dashboard.outside.invitation.button', { account })}
      wide
    >
      <p>{t('dashboard.outside.invitation.text', { account, email, role })}</p>
      {hasUser ? (
        <p className="soft">
          {rich('dashboard.outside.invitation.known', {
            link: (text) => <Link href="/dashboard">{text}</Link>,
          })}
        </p>
      ) : (
        <>
          <TextField
            label={t('dashboard.field.your_name')}
            autoComplete="name"
            {...field('name')}
          />
          <TextField {...newPassword()} {...field('password')} />
        </>
      )}
    </Form>
  );
}
