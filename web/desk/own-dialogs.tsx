import { type ReactNode, useState } from 'react';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { TextField } from '../ui/field.tsx';
import { t } from '../ui/text/t.ts';
import { useToast } from '../ui/toast.tsx';
import { CurrentPassword } from './current-password.tsx';
import { useDesk } from './desk-context.ts';
import { Form } from './form.tsx';
import { useSend } from './use-send.ts';

export function ChangeName(): ReactNode {
  const { people, session, refresh } = useDesk();
  const [isOpen, setIsOpen] = useState(false);
  const [name, setName] = useState(session.user.name);
  const sending = useSend(['name']);
  const save = async () => {
    const body = { name: name.trim() };
    if ((await sending.send(() => people.call('PATCH /me', { body }))) === null) return;
    await refresh();
    setIsOpen(false);
  };
  return (
    <>
      <Button onClick={() => setIsOpen(true)}>{t('desk.own_access.change_name')}</Button>
      {isOpen ? (
        <Dialog title={t('desk.own_access.your_name')} onClose={() => setIsOpen(false)}>
          <Form
            sending={sending}
            onSend={save}
            send={t('desk.button.save')}
            onCancel={() => setIsOpen(false)}
          >
            <TextField
              label={t('desk.field.name')}
              autoComplete="name"
              value={name}
              onChange={(event) => setName(event.target.value)}
              error={sending.problemAt('name')}
            />
          </Form>
        </Dialog>
      ) : null}
    </>
  );
}

export function ChangePassword(): ReactNode {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <>
      <Button onClick={() => setIsOpen(true)}>{t('desk.own_access.change_password')}</Button>
      {isOpen ? <PasswordDialog onClose={() => setIsOpen(false)} /> : null}
    </>
  );
}

function PasswordDialog({ onClose }: { readonly onClose: () => void }): ReactNode {
  const { people } = useDesk();
  const toast = useToast();
  const [present, setPresent] = useState('');
  const [next, setNext] = useState('');
  const sending = useSend(['current_password', 'password']);
  const save = async () => {
    const body = { current_password: present, password: next };
    if ((await sending.send(() => people.call('POST /me/password', { body }))) === null) return;
    toast(t('desk.own_access.password_changed'));
    onClose();
  };
  return (
    <Dialog title={t('desk.own_access.change_password.heading')} onClose={onClose}>
      <Form
        sending={sending}
        onSend={save}
        send={t('desk.own_access.change_password')}
        onCancel={onClose}
      >
        <TextField
          label={t('desk.field.current_password')}
          type="password"
          autoComplete="current-password"
          value={present}
          onChange={(event) => setPresent(event.target.value)}
          error={sending.problemAt('current_password')}
        />
        <TextField
          label={t('desk.field.new_password')}
          type="password"
          autoComplete="new-password"
          value={next}
          onChange={(event) => setNext(event.target.value)}
          hint={t('desk.field.new_password_hint')}
          error={sending.problemAt('password')}
        />
      </Form>
    </Dialog>
  );
}

type Asked = 'export' | 'erase';

/** Lets users download or delete their personal data. */
export function PersonalData(): ReactNode {
  const [asked, setAsked] = useState<Asked | null>(null);
  return (
    <>
      <Button onClick={() => setAsked('export')}>{t('desk.own_access.download_data')}</Button>
      <Button kind="danger-quiet" onClick={() => setAsked('erase')}>
        {t('desk.own_access.delete_account')}
      </Button>
      {asked === null ? null : <DataDialog asked={asked} onClose={() => setAsked(null)} />}
    </>
  );
}

function saveAsFile(name: string, value: unknown): void {
  const url = URL.createObjectURL(
    new Blob([JSON.stringify(value, null, 2)], { type: 'application/json' }),
  );
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}

interface DataDialogProps {
  readonly asked: Asked;
  readonly onClose: () => void;
}

function DataDialog({ asked, onClose }: DataDialogProps): ReactNode {
  const { people, session } = useDesk();
  const [asksPassword] = useState(session.user.factors.first_choice === null);
  const [password, setPassword] = useState('');
  const sending = useSend(['current_password']);
  const isExport = asked === 'export';
  const body = asksPassword ? { current_password: password } : {};
  const run = async () => {
    if (isExport) {
      const found = await sending.send(() => people.call('POST /me/export', { body }));
      if (found === null) return;
      saveAsFile('my-data.json', found);
      return onClose();
    }
    const erased = await sending.send(() => people.call('POST /me/erase', { body }));
    if (erased !== null) location.reload();
  };
  return (
    <Dialog
      title={
        isExport
          ? t('desk.own_access.download_data.heading')
          : t('desk.own_access.delete_account.heading')
      }
      onClose={onClose}
    >
      <Form
        sending={sending}
        onSend={run}
        send={isExport ? t('desk.own_access.download_data') : t('desk.own_access.delete_account')}
        kind={isExport ? 'primary' : 'danger'}
        onCancel={onClose}
      >
        <p>
          {isExport
            ? t('desk.own_access.download_data.text')
            : t('desk.own_access.delete_account.text')}
        </p>
        {asksPassword ? (
          <CurrentPassword
            value={password}
            onText={setPassword}
            error={sending.problemAt('current_password')}
          />
        ) : null}
      </Form>
    </Dialog>
  );
}
