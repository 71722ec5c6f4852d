import type { ReactNode } from 'react';
import { createCall } from '../../data/typed-calls.ts';
import type { Operations } from '../../data/types/dashboard.ts';
import { useDesk } from '../../desk/desk-context.ts';
import { Form } from '../../desk/form.tsx';
import { Sheet } from '../../desk/single-task-page.tsx';
import { useTextForm } from '../../desk/use-text-form.ts';
import { Button } from '../../ui/button.tsx';
import { TextField } from '../../ui/field.tsx';
import { t } from '../../ui/text/t.ts';

export interface NewAccountFormProps {
  readonly onMade: (account: string) => void;
  readonly onCancel?: () => void;
}

export function NewAccountForm({ onMade, onCancel }: NewAccountFormProps): ReactNode {
  const { people, refresh } = useDesk();
  const { texts, sending, field } = useTextForm({ name: '' });
  const open = async () => {
    const call = createCall<Operations, '/dashboard/v1'>(people.api);
    const body = { name: texts.name.trim() };
    const made = await sending.send(() => call('POST /accounts', { body }));
    if (made === null) return;
    onMade(made.id);
    await refresh();
  };
  return (
    <Form
      sending={sending}
      onSend={open}
      send={t('dashboard.button.open_account')}
      {...(onCancel && { onCancel })}
    >
      <TextField
        label={t('dashboard.field.business_name')}
        hint={t('dashboard.field.business_name_hint')}
        {...field('name')}
      />
    </Form>
  );
}

/** Shown to a user who has left every team. */
export function NoAccount({ onMade }: { readonly onMade: (account: string) => void }): ReactNode {
  const { session, signOut } = useDesk();
  return (
    <Sheet title={t('dashboard.no_account.heading')}>
      <p>{t('dashboard.no_account.text', { email: session.user.email })}</p>
      <NewAccountForm onMade={onMade} />
      <Button data-name="Sign out" kind="quiet" onClick={() => void signOut()}>
        {t('dashboard.sign_out')}
      </Button>
    </Sheet>
  );
}
