import { type ReactNode, useState } from 'react';
import { canUsePasskeys, createPasskey } from '../data/passkey.ts';
import { Dialog } from '../ui/dialog.tsx';
import { TextField } from '../ui/field.tsx';
import { t } from '../ui/text/t.ts';
import { CurrentPassword } from './current-password.tsx';
import { useDesk } from './desk-context.ts';
import { Form } from './form.tsx';
import { useSend } from './use-send.ts';

/** Adds a passkey of this device. If the user has no factor yet, it asks for the password. */
export function AddPasskeyDialog({ onClose }: { readonly onClose: () => void }): ReactNode {
  const { people, session, refresh } = useDesk();
  const [asksPassword] = useState(session.user.factors.first_choice === null);
  const [name, setName] = useState('');
  const [password, setPassword] = useState('');
  const sending = useSend(['name', 'current_password']);
  const add = async () => {
    if (name.trim() === '') return sending.refuse('name', t('desk.passkey.name_missing'));
    const body = asksPassword ? { current_password: password } : {};
    const options = await sending.send(() => people.call('POST /me/passkeys/options', { body }));
    if (options === null) return;
    const made = await createPasskey(options);
    if (made === null) return;
    const added = await sending.send(() =>
      people.call('POST /me/passkeys', { body: { name: name.trim(), response: made as never } }),
    );
    if (added === null) return;
    await refresh();
    onClose();
  };
  return (
    <Dialog title={t('desk.passkey.heading')} onClose={onClose}>
      {canUsePasskeys() ? (
        <Form
          sending={sending}
          onSend={add}
          send={t('desk.own_access.add_passkey')}
          onCancel={onClose}
        >
          <TextField
            label={t('desk.field.name')}
            value={name}
            onChange={(event) => setName(event.target.value)}
            hint={t('desk.passkey.name_hint')}
            error={sending.problemAt('name')}
          />
          {asksPassword ? (
            <CurrentPassword
              value={password}
              onText={setPassword}
              hint={t('desk.field.password_hint')}
              error={sending.problemAt('current_password')}
            />
          ) : null}
        </Form>
      ) : (
        <p>{t('desk.passkey.not_here')}</p>
      )}
    </Dialog>
  );
}
