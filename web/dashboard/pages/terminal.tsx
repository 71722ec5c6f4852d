import { type ReactNode, useState } from 'react';
import { Link, useParams } from 'wouter';
import type { PaymentIntent, DashboardTerminal as Terminal } from '../../data/types/dashboard.ts';
import { ActionButton } from '../../desk/action-button.tsx';
import { ConfirmDialog } from '../../desk/confirm-dialog.tsx';
import { Form } from '../../desk/form.tsx';
import { Loaded } from '../../desk/loaded.tsx';
import { useSend } from '../../desk/send.ts';
import { ShownOnce } from '../../desk/shown-once.tsx';
import { ChangedMeanwhile, storedNow } from '../../desk/stored-now.tsx';
import { Button } from '../../ui/button.tsx';
import { CopyId } from '../../ui/copy-id.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/field.tsx';
import { Page } from '../../ui/shell.tsx';
import { ObjectStatus } from '../../ui/status.tsx';
import { Fact, FactList } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { useMerchant, useRead } from '../merchant.ts';
import { ObjectLink } from '../parts/object-link.tsx';
import { OtherMode } from '../parts/other-mode.tsx';
import { Pairing } from '../parts/pairing.tsx';
import { SmartTap } from '../parts/smart-tap.tsx';
import { Software } from '../parts/software.tsx';
import { TerminalTag } from '../parts/tag.tsx';

/** Soon enough to see a device that was just connected. */
const WATCH_MS = 5_000;

export function TerminalPage(): ReactNode {
  const { id = '' } = useParams();
  const query = useRead(
    'GET /accounts/{account}/{mode}/terminals/{id}',
    { path: { id } },
    { everyMs: WATCH_MS },
  );
  return (
    <Page title="Terminal">
      <Loaded query={query} missing={<OtherMode />}>
        {(terminal) => <TerminalView terminal={terminal} />}
      </Loaded>
    </Page>
  );
}

function TerminalView({ terminal }: { readonly terminal: Terminal }): ReactNode {
  const { may, mode } = useMerchant();
  const { id, label, status, last_seen_at: seen } = terminal;
  const isActive = status === 'active';
  return (
    <>
      <div className="headline">
        <h2>
          <bdi>{label}</bdi>
        </h2>
        <ObjectStatus status={status} />
        <CopyId id={id} />
      </div>
      <div className="columns">
        <section className="card stack">
          <FactList>
            <Fact name="Last seen">{seen === null ? 'Never' : <Time at={seen} />}</Fact>
            <Fact name="Name">{terminal.name}</Fact>
            <Fact name="Software">
              <Software terminal={terminal} />
            </Fact>
            <Fact name="Added">
              <Time at={terminal.created} />
            </Fact>
            <Fact name="Sales">
              <Link href={`/dashboard/payments?terminal=${id}`}>View payments</Link>
            </Fact>
          </FactList>
          <div className="row">
            {may('member') ? <Rename terminal={terminal} /> : null}
            {may('admin') ? <OnOff id={id} isActive={isActive} /> : null}
            {may('admin') ? <NewKey id={id} /> : null}
          </div>
        </section>
        {may('admin') && isActive ? (
          <section className="card stack">
            <h2>Connect a device</h2>
            <Pairing terminal={id} />
          </section>
        ) : null}
        {mode === 'test' && may('member') && isActive ? <TestTap id={id} /> : null}
        <SmartTap terminal={terminal} />
        <TerminalTag terminal={terminal} />
      </div>
    </>
  );
}

/** Plays the customer: what the till asks for is paid by the test pass `ok`. */
function TestTap({ id }: { readonly id: string }): ReactNode {
  const { call } = useMerchant();
  const [tapped, setTapped] = useState<PaymentIntent | null>(null);
  return (
    <section className="card stack">
      <h2>Act as the customer</h2>
      <p className="soft">
        When your server or the till requests a payment here, tap it with a test pass. No device is
        needed.
      </p>
      <ActionButton
        request={(key) =>
          call('POST /accounts/{account}/{mode}/test_helpers/terminals/{id}/tap', {
            path: { id },
            body: {},
            idempotencyKey: key,
          })
        }
        onDone={setTapped}
      >
        Test tap
      </ActionButton>
      {tapped === null ? null : (
        <p role="status">
          <ObjectStatus status={tapped.status} /> <ObjectLink id={tapped.payment ?? tapped.id} />
        </p>
      )}
    </section>
  );
}

function Rename({ terminal }: { readonly terminal: Terminal }): ReactNode {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <>
      <Button onClick={() => setIsOpen(true)}>Change label</Button>
      {isOpen ? <RenameDialog terminal={terminal} onClose={() => setIsOpen(false)} /> : null}
    </>
  );
}

interface RenameDialogProps {
  readonly terminal: Terminal;
  readonly onClose: () => void;
}

function RenameDialog({ terminal, onClose }: RenameDialogProps): ReactNode {
  const { call } = useMerchant();
  const [label, setLabel] = useState(terminal.label);
  const [opened] = useState(terminal.version);
  const sending = useSend(['label']);
  const isStale = opened !== terminal.version;
  const save = async () => {
    const body = { version: terminal.version, label: label.trim() };
    const path = { id: terminal.id };
    const saved = await sending.send(() =>
      call('PATCH /accounts/{account}/{mode}/terminals/{id}', { path, body }),
    );
    if (saved !== null) onClose();
  };
  return (
    <Dialog title="Change the label" onClose={onClose}>
      <Form sending={sending} onSend={save} send="Save" onCancel={onClose}>
        <ChangedMeanwhile isStale={isStale} />
        <TextField
          label="Label"
          value={label}
          onChange={(event) => setLabel(event.target.value)}
          hint={storedNow({ isStale, stored: terminal.label, typed: label }) ?? undefined}
          error={sending.problemAt('label')}
        />
      </Form>
    </Dialog>
  );
}

function OnOff({ id, isActive }: { readonly id: string; readonly isActive: boolean }): ReactNode {
  const { call } = useMerchant();
  const [isAsking, setIsAsking] = useState(false);
  const path = { id };
  if (!isActive) {
    return (
      <ActionButton
        request={() => call('POST /accounts/{account}/{mode}/terminals/{id}/activate', { path })}
      >
        Turn on
      </ActionButton>
    );
  }
  return (
    <>
      <Button kind="danger-quiet" onClick={() => setIsAsking(true)}>
        Turn off
      </Button>
      {isAsking ? (
        <ConfirmDialog
          title="Turn off this till?"
          send="Turn off"
          request={() =>
            call('POST /accounts/{account}/{mode}/terminals/{id}/deactivate', { path })
          }
          onDone={() => setIsAsking(false)}
          onClose={() => setIsAsking(false)}
        >
          <p>It can no longer charge or refund. You can turn it on again.</p>
        </ConfirmDialog>
      ) : null}
    </>
  );
}

function NewKey({ id }: { readonly id: string }): ReactNode {
  const { call } = useMerchant();
  const [isAsking, setIsAsking] = useState(false);
  const [key, setKey] = useState<string | null>(null);
  return (
    <>
      <Button onClick={() => setIsAsking(true)}>Replace device key</Button>
      {isAsking ? (
        <ConfirmDialog
          title="Replace the device key?"
          send="Replace device key"
          request={() =>
            call('POST /accounts/{account}/{mode}/terminals/{id}/rotate_device_key', {
              path: { id },
            })
          }
          onDone={({ device_key }) => {
            setIsAsking(false);
            setKey(device_key);
          }}
          onClose={() => setIsAsking(false)}
        >
          <p>The device with the current key stops working immediately.</p>
        </ConfirmDialog>
      ) : null}
      {key === null ? null : (
        <ShownOnce
          title="The new device key"
          label="Device key"
          secret={key}
          onClose={() => setKey(null)}
        />
      )}
    </>
  );
}
