import { type ReactNode, useEffect, useState } from 'react';
import { Link } from 'wouter';
import { named } from '#core/isolates.ts';
import type { PeopleApi } from '../../data/people.ts';
import { createCall } from '../../data/routes.ts';
import type { LookUpInvitationResponse, Operations } from '../../data/types/dashboard.ts';
import { AddressForm, NEW_PASSWORD, Sent, useTokenInLink } from '../../desk/by-mail.tsx';
import { Form } from '../../desk/form.tsx';
import { useSend } from '../../desk/send.ts';
import { Sheet } from '../../desk/sheet.tsx';
import { TextField } from '../../ui/field.tsx';
import { Notice } from '../../ui/notice.tsx';

/** Pages for people who are not signed in: each is opened by a link in a mail, or leads to one. */

interface OutsideProps {
  readonly people: PeopleApi;
}

function callOf(people: PeopleApi) {
  return createCall<Operations, '/dashboard/v1'>(people.api);
}

/** As if the page had been opened again: the session that just began is found. */
function enter(people: PeopleApi): void {
  localStorage.setItem(`tapline ${people.realm} signed in`, 'yes');
  location.assign(new URL('dashboard', document.baseURI));
}

const SENT = 'Open the link in it to create your account. It is valid for 24 hours.';

export function SignUp({ people }: OutsideProps): ReactNode {
  const token = useTokenInLink();
  const [link, setLink] = useState<string | null>(null);
  const call = callOf(people);
  return (
    <Sheet title="Open an account">
      {link === null ? null : <Sent link={link}>{SENT}</Sent>}
      {token === null && link === null ? (
        <AddressForm
          send="Send me a link"
          request={(email) => call('POST /sign_up', { body: { email } })}
          sent={SENT}
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
        <Link href="/dashboard">Back to sign-in</Link>
      </p>
    </Sheet>
  );
}

interface TokenProps extends OutsideProps {
  readonly token: string;
}

function CompleteSignUp({ people, token }: TokenProps): ReactNode {
  const [name, setName] = useState('');
  const [accountName, setAccountName] = useState('');
  const [password, setPassword] = useState('');
  const sending = useSend(['name', 'account_name', 'password']);
  const open = async () => {
    if (name.trim() === '') return sending.refuse('name', 'Enter your name.');
    if (accountName.trim() === '')
      return sending.refuse('account_name', 'Enter the name of the business.');
    const body = { token, name: name.trim(), account_name: accountName.trim(), password };
    const session = await sending.send(() => callOf(people)('POST /sign_up/complete', { body }));
    if (session !== null) enter(people);
  };
  return (
    <Form sending={sending} onSend={open} send="Open account" wide>
      <TextField
        label="Your name"
        autoComplete="name"
        value={name}
        onChange={(event) => setName(event.target.value)}
        error={sending.problemAt('name')}
      />
      <TextField
        label="Name of the business"
        autoComplete="organization"
        value={accountName}
        onChange={(event) => setAccountName(event.target.value)}
        hint="Customers see it when they pay."
        error={sending.problemAt('account_name')}
      />
      <TextField
        {...NEW_PASSWORD}
        value={password}
        onChange={(event) => setPassword(event.target.value)}
        error={sending.problemAt('password')}
      />
    </Form>
  );
}

export function Invitation({ people }: OutsideProps): ReactNode {
  const token = useTokenInLink();
  const [found, setFound] = useState<LookUpInvitationResponse | null>(null);
  const sending = useSend();
  const { send } = sending;
  useEffect(() => {
    if (token === null) return;
    const look = () => callOf(people)('POST /invitations/lookup', { body: { token } });
    void send(look).then(setFound);
  }, [people, token, send]);
  return (
    <Sheet title="Join a team">
      {token === null || sending.problem !== null ? (
        <Notice tone="bad" role="alert">
          <p>{sending.problem ?? 'The link is incomplete. Open it again from your email.'}</p>
        </Notice>
      ) : null}
      {token !== null && found !== null ? (
        <AcceptInvitation people={people} token={token} found={found} />
      ) : null}
    </Sheet>
  );
}

interface AcceptProps extends TokenProps {
  readonly found: LookUpInvitationResponse;
}

function AcceptInvitation({ people, token, found }: AcceptProps): ReactNode {
  const [name, setName] = useState('');
  const [password, setPassword] = useState('');
  const sending = useSend(['name', 'password']);
  const { account_name: account, role, email, has_user: hasUser } = found;
  const accept = async () => {
    const body = hasUser ? { token } : { token, name: name.trim(), password };
    const joined = await sending.send(() => callOf(people)('POST /invitations/accept', { body }));
    if (joined !== null) enter(people);
  };
  return (
    <Form sending={sending} onSend={accept} send={`Join ${account}`} wide>
      <p>
        {named(account)} invites {email} as {role}.
      </p>
      {hasUser ? (
        <p className="soft">
          You already have an account here. <Link href="/dashboard">Sign in</Link> first, then open
          the link again.
        </p>
      ) : (
        <>
          <TextField
            label="Your name"
            autoComplete="name"
            value={name}
            onChange={(event) => setName(event.target.value)}
            error={sending.problemAt('name')}
          />
          <TextField
            {...NEW_PASSWORD}
            value={password}
            onChange={(event) => setPassword(event.target.value)}
            error={sending.problemAt('password')}
          />
        </>
      )}
    </Form>
  );
}
