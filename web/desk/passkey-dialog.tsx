import { type ReactNode, useState } from 'react';
import { canUsePasskeys, createPasskey } from '../data/passkey.ts';
import { Dialog } from '../ui/dialog.tsx';
import { TextField } from '../ui/field.tsx';
import { t } from '../ui/text/t.ts';
import { CurrentPassword } from './current-password.tsx';
import { useDesk } from './desk-context.ts';
import { Form } from './form.tsx';
import { useTextForm } from './use-text-form.ts';

/** Adds a passkey of this device. If the user has no factor yet, it asks for the password. */
export function AddPasskeyDialog({ onClose }: { readonly onClose: () => void }): ReactNode {
  const { people, session, refresh } = useDesk();
  const [asksPassword] = useState(session.user.factors.first_choice === null);
  const { texts, sending, field } = useTextForm({ name: '', current_password: '' });
  const add = async () => {
    const { current_password } = texts;
    const name = texts.name.trim();
    if (name === '') return sending.refuse('name', t('desk.passkey.name_missing'));
    const body = asksPassword ? { current_password } : {};
    const options = await sending.send(() => people.call('POST /me/passkeys/options', { body }));
    if (options === null) return;
    const made = await createPasskey(options);
    if (made === null) return;
    const added = await sending.send(() =>
      people.call('POST /me/passkeys', { body: { name, response: made as never } }),
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
            hint={t('desk.passkey.name_hint')}
            {...field('name')}
          />
          {asksPassword ? (
            <CurrentPassword hint={t('desk.field.password_hint')} {...field('current_password')} />
          ) : null}
        </Form>
      ) : (
        <p>{t('desk.passkey.not_here')}</p>
      )}
    </Dialog>
  );
}
