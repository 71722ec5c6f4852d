import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { valueIn } from '../data/api.ts';
import { addressWithPasskeys } from '../data/passkey.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Notice } from '../ui/notice.tsx';
import { Status } from '../ui/status.tsx';
import { t } from '../ui/text/t.ts';
import { rich } from '../ui/text/tagged-text.ts';
import { Time } from '../ui/time.tsx';
import { ActionButton } from './action-button.tsx';
import { ConfirmDialog } from './confirm-dialog.tsx';
import { useDesk } from './desk-context.ts';
import { useFactor } from './factor-context.ts';
import { ChangeName, ChangePassword, PersonalData } from './own-dialogs.tsx';
import { PasskeyAddress } from './passkey-address.tsx';
import { AddPasskeyDialog } from './passkey-dialog.tsx';
import { RecoveryCodes, TotpSetup } from './totp-setup.tsx';

export function OwnAccess(): ReactNode {
  const { session } = useDesk();
  const { name, email } = session.user;
  return (
    <section className="card stack">
      <h2>{t('desk.own_access.you.heading')}</h2>
      <p>
        <bdi>{name}</bdi> <bdi className="soft">{email}</bdi>
      </p>
      <div className="row">
        <ChangeName />
        <ChangePassword />
        <PersonalData />
      </div>
      <h3>{t('desk.second_factor')}</h3>
      <AuthenticatorApp />
      <Passkeys />
      <h3>{t('desk.own_access.sessions.heading')}</h3>
      <Sessions />
    </section>
  );
}

function AuthenticatorApp(): ReactNode {
  const { people, session, refresh } = useDesk();
  const { factors } = session.user;
  const [open, setOpen] = useState<'set_up' | 'remove' | null>(null);
  const [codes, setCodes] = useState<readonly string[] | null>(null);
  const prove = useFactor();
  const close = () => {
    setOpen(null);
    setCodes(null);
    void refresh();
  };
  const setUp = async () => {
    // A user with a second factor verifies it. Users without one enter the password in the dialog.
    if (factors.first_choice === null || (await prove())) setOpen('set_up');
  };
  return (
    <>
      <div className="row">
        <Status tone={factors.totp ? 'good' : 'warn'}>
          {factors.totp ? t('desk.own_access.has_app') : t('desk.own_access.no_app')}
        </Status>
        {factors.totp ? (
          <>
            <Button onClick={() => setOpen('remove')}>{t('desk.own_access.remove_app')}</Button>
            <ActionButton
              request={() => people.call('POST /me/recovery_codes')}
              onDone={(made) => setCodes(made.recovery_codes)}
            >
              {t('desk.own_access.new_codes.button')}
            </ActionButton>
            <CodesLeft count={factors.recovery_codes_left} />
          </>
        ) : (
          <Button onClick={() => void setUp()}>{t('desk.own_access.set_up_app')}</Button>
        )}
      </div>
      <CodesToKeep isDue={factors.recovery_codes_to_save} />
      {open === 'set_up' ? (
        <Dialog title={t('desk.own_access.set_up_app')} onClose={close}>
          <TotpSetup asksPassword={factors.first_choice === null} onDone={close} onCancel={close} />
        </Dialog>
      ) : null}
      {open === 'remove' ? (
        <ConfirmDialog
          title={t('desk.own_access.remove_app.heading')}
          send={t('desk.own_access.remove_app')}
          request={() => people.call('DELETE /me/totp')}
          onDone={close}
          onClose={close}
        >
          <p>{t('desk.own_access.remove_app.text')}</p>
        </ConfirmDialog>
      ) : null}
      {codes === null ? null : <NewCodes codes={codes} onClose={close} />}
    </>
  );
}

function CodesLeft({ count }: { readonly count: number }): ReactNode {
  return <span className="soft">{t('desk.own_access.recovery_codes_left', { count })}</span>;
}

interface NewCodesProps {
  readonly codes: readonly string[];
  readonly onClose: () => void;
}

function NewCodes({ codes, onClose }: NewCodesProps): ReactNode {
  return (
    <Dialog title={t('desk.own_access.new_codes.heading')} onClose={onClose}>
      <RecoveryCodes codes={codes} onKept={onClose} />
    </Dialog>
  );
}

function CodesToKeep({ isDue }: { readonly isDue: boolean }): ReactNode {
  if (!isDue) return null;
  return (
    <Notice tone="warn">
      <p>{t('desk.own_access.codes_to_save')}</p>
    </Notice>
  );
}

function Passkeys(): ReactNode {
  const { people, refresh } = useDesk();
  const [isAdding, setIsAdding] = useState(false);
  const { data } = useQuery({
    queryKey: ['me', 'passkeys'],
    queryFn: async () => valueIn(await people.call('GET /me/passkeys')),
  });
  return (
    <>
      <ul className="stack stack-tight">
        {data?.data.map(({ id, name, last_used_at: used }) => (
          <li key={id} className="row">
            <strong>
              <bdi>{name}</bdi>
            </strong>
            <span className="soft small">
              {used === null
                ? t('desk.own_access.never_used')
                : rich('desk.own_access.last_used', { time: () => <Time at={used} /> })}
            </span>
            <ActionButton
              request={() => people.call('DELETE /me/passkeys/{id}', { path: { id } })}
              onDone={() => void refresh()}
            >
              {t('desk.own_access.remove.button', { name })}
            </ActionButton>
          </li>
        ))}
      </ul>
      <div>
        {addressWithPasskeys() === null ? (
          <Button onClick={() => setIsAdding(true)}>{t('desk.own_access.add_passkey')}</Button>
        ) : (
          <PasskeyAddress />
        )}
      </div>
      {isAdding ? <AddPasskeyDialog onClose={() => setIsAdding(false)} /> : null}
    </>
  );
}

function Sessions(): ReactNode {
  const { people } = useDesk();
  const { data } = useQuery({
    queryKey: ['me', 'sessions'],
    queryFn: async () => valueIn(await people.call('GET /sessions')),
  });
  return (
    <>
      <ul className="stack stack-tight">
        {data?.data.map(({ id, current, device, place, address, last_seen_at }) => (
          <li key={id} className="row">
            <strong>
              <bdi>{device}</bdi>
            </strong>
            <span className="soft small">
              {rich(
                'desk.own_access.session',
                { time: () => <Time at={last_seen_at} /> },
                { place: place === '' ? address : `${place}, ${address}` },
              )}
            </span>
            {current ? (
              <Status tone="info">{t('desk.own_access.this_device.status')}</Status>
            ) : (
              <ActionButton request={() => people.call('DELETE /sessions/{id}', { path: { id } })}>
                {t('desk.own_access.end.button')}
              </ActionButton>
            )}
          </li>
        ))}
      </ul>
      <ActionButton
        request={() => people.call('DELETE /sessions')}
        onDone={() => location.reload()}
      >
        {t('desk.own_access.end_all_sessions')}
      </ActionButton>
    </>
  );
}
