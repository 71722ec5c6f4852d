import { type ReactNode, useState } from 'react';
import { named } from '#i18n/bidi-isolates.ts';
import { FormDialog } from '../../desk/form-dialog.tsx';
import { useTextForm } from '../../desk/use-text-form.ts';
import { Button } from '../../ui/button.tsx';
import { CopyField } from '../../ui/copy-field.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Select, TextField } from '../../ui/field.tsx';
import { t } from '../../ui/text/t.ts';
import { useMerchant } from '../use-merchant.ts';
import { Pairing } from './pairing.tsx';
import { useOwnLocations } from './terminal-location.tsx';

interface Added {
  readonly id: string;
  readonly label: string;
  readonly deviceKey: string;
  readonly code: { readonly code: string; readonly expires_at: string };
}

export function AddTerminalDialog({ onClose }: { readonly onClose: () => void }): ReactNode {
  const { call } = useMerchant();
  const { texts, sending, set, field } = useTextForm({ label: '', location: '' });
  const locations = useOwnLocations();
  const [added, setAdded] = useState<Added | null>(null);
  const add = async () => {
    const { location } = texts;
    const body = { label: texts.label.trim(), ...(location === '' ? {} : { location }) };
    if (body.label === '')
      return sending.refuse('label', t('dashboard.add_terminal.label_missing'));
    const made = await sending.send(() =>
      call('POST /accounts/{account}/{mode}/terminals', { body }),
    );
    if (made === null) return;
    const code = await sending.send(() =>
      call('POST /accounts/{account}/{mode}/terminals/{id}/pairing_code', {
        path: { id: made.id },
      }),
    );
    if (code !== null)
      setAdded({ id: made.id, label: made.label, deviceKey: made.device_key, code });
  };
  if (added !== null) return <Connect added={added} onClose={onClose} />;
  return (
    <FormDialog
      title={t('dashboard.add_terminal_dialog.new_till.heading')}
      onClose={onClose}
      sending={sending}
      onSend={add}
      send={t('dashboard.button.add_terminal')}
      data-name="Add terminal"
    >
      <TextField
        label={t('dashboard.field.label')}
        hint={t('dashboard.add_terminal.label_hint')}
        {...field('label')}
      />
      {locations.length === 0 ? null : (
        <Select
          label={t('dashboard.organization.location.column')}
          value={texts.location}
          onChange={({ target }) => set({ location: target.value })}
          error={sending.problemAt('location')}
        >
          <option value="">{t('dashboard.organization.no_location')}</option>
          {locations.map(({ id, name }) => (
            <option key={id} value={id}>
              {named(name)}
            </option>
          ))}
        </Select>
      )}
    </FormDialog>
  );
}

interface ConnectProps {
  readonly added: Added;
  readonly onClose: () => void;
}

function Connect({ added, onClose }: ConnectProps): ReactNode {
  return (
    <Dialog title={t('dashboard.add_terminal.made', { name: added.label })} onClose={onClose}>
      <Pairing terminal={added.id} first={added.code} />
      <details className="stack stack-tight">
        <summary>{t('dashboard.add_terminal.key_summary')}</summary>
        <CopyField label={t('dashboard.field.device_key')} value={added.deviceKey} />
        <p className="soft small">{t('dashboard.add_terminal.key_hint')}</p>
      </details>
      <div className="row">
        <Button kind="primary" onClick={onClose}>
          {t('desk.button.done')}
        </Button>
      </div>
    </Dialog>
  );
}
