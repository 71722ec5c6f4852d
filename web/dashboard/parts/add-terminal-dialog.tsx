import { type ReactNode, useState } from 'react';
import { named } from '#core/isolates.ts';
import { Form } from '../../desk/form.tsx';
import { useSend } from '../../desk/send.ts';
import { Button } from '../../ui/button.tsx';
import { CopyField } from '../../ui/copy-field.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/field.tsx';
import { useMerchant } from '../merchant.ts';
import { Pairing } from './pairing.tsx';

interface Added {
  readonly id: string;
  readonly label: string;
  readonly deviceKey: string;
  readonly code: { readonly code: string; readonly expires_at: string };
}

export function AddTerminalDialog({ onClose }: { readonly onClose: () => void }): ReactNode {
  const { call } = useMerchant();
  const [label, setLabel] = useState('');
  const [added, setAdded] = useState<Added | null>(null);
  const sending = useSend(['label']);
  const add = async () => {
    if (label.trim() === '') return sending.refuse('label', 'Enter where it is, such as Bar.');
    const made = await sending.send(() =>
      call('POST /accounts/{account}/{mode}/terminals', { body: { label: label.trim() } }),
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
    <Dialog title="New till" onClose={onClose}>
      <Form sending={sending} onSend={add} send="Add terminal" onCancel={onClose}>
        <TextField
          label="Label"
          value={label}
          onChange={(event) => setLabel(event.target.value)}
          hint="Where it is or who uses it: Bar, Counter 2."
          error={sending.problemAt('label')}
        />
      </Form>
    </Dialog>
  );
}

interface ConnectProps {
  readonly added: Added;
  readonly onClose: () => void;
}

function Connect({ added, onClose }: ConnectProps): ReactNode {
  return (
    <Dialog title={`Connect ${named(added.label)}`} onClose={onClose}>
      <Pairing terminal={added.id} first={added.code} />
      <details className="stack stack-tight">
        <summary>For your own device: its key, shown only once</summary>
        <CopyField label="Device key" value={added.deviceKey} />
        <p className="soft small">It stops working when the pairing code is used.</p>
      </details>
      <div className="row">
        <Button kind="primary" onClick={onClose}>
          Done
        </Button>
      </div>
    </Dialog>
  );
}
