import { type ReactNode, useState } from 'react';
import { Button } from '../ui/button.tsx';
import { TextField } from '../ui/field.tsx';
import { t } from '../ui/text/t.ts';
import { useToast } from '../ui/toast.tsx';
import { CurrentPassword } from './current-password.tsx';
import { useDesk } from './desk-context.ts';
import { DialogButton } from './dialog-button.tsx';
import { FormDialog } from './form-dialog.tsx';
import { useTextForm } from './use-text-form.ts';

export function ChangeName(): ReactNode {
  const { people, session, refresh } = useDesk();
  const [isOpen, setIsOpen] = useState(false);
  const { texts, sending, field } = useTextForm({ name: session.user.name });
  const save = async () => {
    const body = { name: texts.name.trim() };
    if ((await sending.send(() => people.call('PATCH /me', { body }))) === null) return;
    await refresh();
    setIsOpen(false);
  };
  return (
    <>
      <Button onClick={() => setIsOpen(true)}>{t('desk.own_access.change_name')}</Button>
      {isOpen ? (
        <FormDialog
          title={t('desk.own_access.your_name')}
          onClose={() => setIsOpen(false)}
          sending={sending}
          onSend={save}
          send={t('desk.button.save')}
        >
          <TextField label={t('desk.field.name')} autoComplete="name" {...field('name')} />
        </FormDialog>
      ) : null}
    </>
  );
}

export function ChangePassword(): ReactNode {
  return (
    <DialogButton words={t('desk.own_access.change_password')}>
      {(close) => <PasswordDialog onClose={close} />}
    </DialogButton>
  );
}

function PasswordDialog({ onClose }: { readonly onClose: () => void }): ReactNode {
  const { people } = useDesk();
  const toast = useToast();
  const { texts: body, sending, field } = useTextForm({ current_password: '', password: '' });
  const save = async () => {
    if ((await sending.send(() => people.call('POST /me/password', { body }))) === null) return;
    toast(t('desk.own_access.password_changed'));
    onClose();
  };
  return (
    <FormDialog
      title={t('desk.own_access.change_password.heading')}
      onClose={onClose}
      sending={sending}
      onSend={save}
      send={t('desk.own_access.change_password')}
    >
      <TextField
        label={t('desk.field.current_password')}
        type="password"
        autoComplete="current-password"
        {...field('current_password')}
      />
      <TextField
        label={t('desk.field.new_password')}
        type="password"
        autoComplete="new-password"
        hint={t('desk.field.new_password_hint')}
        {...field('password')}
      />
    </FormDialog>
  );
}

type OwnRequest = 'export' | 'erase';

export function PersonalData(): ReactNode {
  const [request, setRequest] = useState<OwnRequest | null>(null);
  return (
    <>
      <Button onClick={() => setRequest('export')}>{t('desk.own_access.download_data')}</Button>
      <Button kind="danger-quiet" onClick={() => setRequest('erase')}>
        {t('desk.own_access.delete_account')}
      </Button>
      {request === null ? null : <DataDialog asked={request} onClose={() => setRequest(null)} />}
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
  readonly asked: OwnRequest;
  readonly onClose: () => void;
}

function DataDialog({ asked, onClose }: DataDialogProps): ReactNode {
  const { people, session } = useDesk();
  const [asksPassword] = useState(session.user.factors.first_choice === null);
  const { texts, sending, field } = useTextForm({ current_password: '' });
  const isExport = asked === 'export';
  const body = asksPassword ? texts : {};
  const run = async () => {
    if (isExport) {
      const copy = await sending.send(() => people.call('POST /me/export', { body }));
      if (copy === null) return;
      saveAsFile('my-data.json', copy);
      return onClose();
    }
    const erased = await sending.send(() => people.call('POST /me/erase', { body }));
    if (erased !== null) location.reload();
  };
  return (
    <FormDialog
      title={
        isExport
          ? t('desk.own_access.download_data.heading')
          : t('desk.own_access.delete_account.heading')
      }
      onClose={onClose}
      sending={sending}
      onSend={run}
      send={isExport ? t('desk.own_access.download_data') : t('desk.own_access.delete_account')}
      kind={isExport ? 'primary' : 'danger'}
    >
      <p>
        {isExport
          ? t('desk.own_access.download_data.text')
          : t('desk.own_access.delete_account.text')}
      </p>
      {asksPassword ? <CurrentPassword {...field('current_password')} /> : null}
    </FormDialog>
  );
}
