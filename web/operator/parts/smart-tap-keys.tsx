import { type ReactNode, useState } from 'react';
import type { CollectorKey, MakeCollectorKeyResponse } from '../../data/types/operator.ts';
import { FormDialog } from '../../desk/form-dialog.tsx';
import { List } from '../../desk/short-list.tsx';
import { ShownOnce } from '../../desk/shown-once.tsx';
import { useSend } from '../../desk/use-send.ts';
import { Button } from '../../ui/button.tsx';
import { CopyField } from '../../ui/copy-field.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/field.tsx';
import { Status, type Tone } from '../../ui/status.tsx';
import type { Column } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { readWhole } from '../../ui/whole-number.ts';
import { useOperator, useRead } from '../use-operator.ts';
import { ReasonDialog } from './reason-dialog.tsx';
import { ReasonField } from './reason-field.tsx';

const WORDS: Readonly<Record<CollectorKey['status'], readonly [Tone, string]>> = {
  ready: ['info', 'Not used yet'],
  in_use: ['good', 'In use'],
  replaced: ['plain', 'Replaced, still valid'],
  ended: ['plain', 'Ended'],
};

const COLUMNS: readonly Column<CollectorKey>[] = [
  { name: 'Key', cell: ({ version }) => `Version ${version}` },
  { name: 'Collector', cell: ({ collector_id }) => collector_id },
  {
    name: 'Status',
    cell: ({ status }) => <Status tone={WORDS[status][0]}>{WORDS[status][1]}</Status>,
  },
  { name: 'Created', cell: ({ created }) => <Time at={created} /> },
  { name: 'Change', cell: (key) => <KeyActions collectorKey={key} /> },
];

export function SmartTapKeys(): ReactNode {
  const { mayChange } = useOperator();
  const keys = useRead('GET /smart_tap/keys');
  const [isMaking, setIsMaking] = useState(false);
  const [made, setMade] = useState<MakeCollectorKeyResponse | null>(null);
  const newest = keys.data?.data[0]?.collector_id;
  return (
    <>
      <h2>Smart Tap</h2>
      <p className="soft">
        Google knows each public key by its version. The private key stays here, and signs each tap
        for paired readers. To rotate, create a key, register it with Google, use it, and end the
        old one.
      </p>
      <List
        label="Keys for Smart Tap"
        query={keys}
        columns={COLUMNS}
        keyOf={({ version }) => String(version)}
        empty={{
          title: 'No keys yet',
          text: 'Merchants can turn on Smart Tap once a key is in use.',
        }}
      />
      {mayChange ? (
        <div>
          <Button onClick={() => setIsMaking(true)}>Create a key</Button>
        </div>
      ) : null}
      {isMaking ? (
        <MakeDialog
          collectorId={newest}
          onMade={(key) => {
            setIsMaking(false);
            setMade(key);
          }}
          onClose={() => setIsMaking(false)}
        />
      ) : null}
      {made === null ? null : (
        <ShownOnce
          title={`Key ${made.version} for Smart Tap`}
          label="Private key"
          secret={made.private_key}
          whole
          onClose={() => setMade(null)}
        >
          <p className="soft">
            Only other makers’ terminals need it. Register this public key with Google, under its
            version:
          </p>
          <CopyField label="Public key" value={made.public_key} whole />
        </ShownOnce>
      )}
    </>
  );
}

interface MakeDialogProps {
  /** The previous key's collector ID. */
  readonly collectorId: number | undefined;
  readonly onMade: (key: MakeCollectorKeyResponse) => void;
  readonly onClose: () => void;
}

function MakeDialog({ collectorId, onMade, onClose }: MakeDialogProps): ReactNode {
  const { call } = useOperator();
  const [id, setId] = useState(collectorId === undefined ? '' : String(collectorId));
  const [reason, setReason] = useState('');
  const sending = useSend(['collector_id', 'reason']);
  const make = async () => {
    const number = readWhole(id) ?? 0;
    if (number < 1 || number >= 2 ** 32) {
      return sending.refuse('collector_id', 'Enter the number that Google assigned.');
    }
    if (reason.trim() === '') return sending.refuse('reason', 'Enter a reason.');
    const body = { collector_id: number, reason: reason.trim() };
    const key = await sending.send(() => call('POST /smart_tap/keys', { body }));
    if (key !== null) onMade(key);
  };
  return (
    <FormDialog
      title="Create a key for Smart Tap"
      onClose={onClose}
      sending={sending}
      onSend={make}
      send="Create a key"
    >
      <TextField
        label="Collector ID"
        value={id}
        onChange={(event) => setId(event.target.value)}
        inputMode="numeric"
        hint="The number that Google assigned to this network."
        error={sending.problemAt('collector_id')}
      />
      <ReasonField value={reason} onText={setReason} hint="For the audit log." sending={sending} />
    </FormDialog>
  );
}

function KeyActions({ collectorKey }: { readonly collectorKey: CollectorKey }): ReactNode {
  const { call, mayChange } = useOperator();
  const [request, setRequest] = useState<'use' | 'end' | 'show' | null>(null);
  const { version, status, public_key } = collectorKey;
  const close = () => setRequest(null);
  if (status === 'ended') return null;
  return (
    <div className="row">
      <Button onClick={() => setRequest('show')} aria-label={`Public key ${version}`}>
        Public key
      </Button>
      {mayChange && status !== 'in_use' ? (
        <Button onClick={() => setRequest('use')} aria-label={`Use key ${version}`}>
          Use
        </Button>
      ) : null}
      {mayChange ? (
        <Button onClick={() => setRequest('end')} aria-label={`End key ${version}`}>
          End
        </Button>
      ) : null}
      {request === 'show' ? (
        <Dialog title={`Public key ${version}`} onClose={close}>
          <CopyField label="Public key" value={public_key} whole />
        </Dialog>
      ) : null}
      {request === 'use' ? (
        <ReasonDialog
          title={`Use key ${version}?`}
          send="Use"
          hint="For the audit log."
          request={(reason) => call('POST /smart_tap/keys/use', { body: { version, reason } })}
          said="Readers use it from the next tap."
          onClose={close}
        >
          <p>Register its public key with Google first: phones ignore keys they do not know.</p>
        </ReasonDialog>
      ) : null}
      {request === 'end' ? (
        <ReasonDialog
          title={`End key ${version}?`}
          send="End"
          kind="danger"
          hint="For the audit log."
          request={(reason) => call('POST /smart_tap/keys/end', { body: { version, reason } })}
          said="Ended."
          onClose={close}
        >
          <p>
            {status === 'in_use'
              ? 'Readers stop reading Google Wallet, until another key is in use.'
              : 'Its private key is erased. It cannot be used again.'}
          </p>
        </ReasonDialog>
      ) : null}
    </div>
  );
}
