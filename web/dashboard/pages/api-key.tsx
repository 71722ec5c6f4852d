import { type ReactNode, useState } from 'react';
import { useParams } from 'wouter';
import { ConfirmDialog } from '../../desk/confirm-dialog.tsx';
import { Form } from '../../desk/form.tsx';
import { Loaded } from '../../desk/loaded.tsx';
import { useSend } from '../../desk/send.ts';
import { ShownOnce } from '../../desk/shown-once.tsx';
import { ChangedMeanwhile, storedNow } from '../../desk/stored-now.tsx';
import { Button } from '../../ui/button.tsx';
import { CopyId } from '../../ui/copy-id.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { EmptyDrawing } from '../../ui/empty-drawing.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { Select } from '../../ui/field.tsx';
import { Page } from '../../ui/shell.tsx';
import { ObjectStatus } from '../../ui/status.tsx';
import { Fact, FactList } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { useMerchant, useRead } from '../merchant.ts';
import { KEY_FIELDS, type KeyDraft, KeyFields, keyBody } from '../parts/api-key-fields.tsx';
import { ObjectLink } from '../parts/object-link.tsx';
import { OtherMode } from '../parts/other-mode.tsx';
import { RoleNeeded } from '../parts/role-needed.tsx';
import { SCOPES, type Scope } from '../parts/scopes.tsx';
import type { ApiKey } from './api-keys.tsx';

export function ApiKeyPage(): ReactNode {
  const { id = '' } = useParams();
  const { may } = useMerchant();
  const query = useRead('GET /accounts/{account}/{mode}/api_keys', undefined, {
    enabled: may('admin'),
  });
  if (!may('admin')) return <RoleNeeded title="API key" needs="admin" />;
  return (
    <Page title="API key">
      <Loaded query={query}>
        {({ data }) => {
          const found = data.find((one) => one.id === id);
          if (found !== undefined) return <KeyView apiKey={found} />;
          return (
            <EmptyState drawing={<EmptyDrawing name="search" />} title="No key has this ID">
              <OtherMode />
            </EmptyState>
          );
        }}
      </Loaded>
    </Page>
  );
}

function KeyView({ apiKey }: { readonly apiKey: ApiKey }): ReactNode {
  const [open, setOpen] = useState<'edit' | 'rotate' | 'revoke' | null>(null);
  const [secret, setSecret] = useState<string | null>(null);
  const close = () => setOpen(null);
  return (
    <>
      <div className="headline">
        <h2>
          <bdi>{apiKey.name}</bdi>
        </h2>
        <ObjectStatus status={apiKey.status} />
        <CopyId id={apiKey.id} />
      </div>
      <KeyFacts apiKey={apiKey} />
      {apiKey.status === 'active' ? (
        <div className="row">
          <Button onClick={() => setOpen('edit')}>Change</Button>
          <Button onClick={() => setOpen('rotate')}>Replace</Button>
          <Button kind="danger-quiet" onClick={() => setOpen('revoke')}>
            Revoke key
          </Button>
        </div>
      ) : null}
      {open === 'edit' ? <EditKeyDialog apiKey={apiKey} onClose={close} /> : null}
      {open === 'rotate' ? (
        <RotateKeyDialog
          apiKey={apiKey}
          onRotated={(made) => {
            close();
            setSecret(made);
          }}
          onClose={close}
        />
      ) : null}
      {open === 'revoke' ? <RevokeKeyDialog apiKey={apiKey} onClose={close} /> : null}
      {secret === null ? null : (
        <ShownOnce
          title="Your new API key"
          label="API key"
          secret={secret}
          onClose={() => setSecret(null)}
        />
      )}
    </>
  );
}

function KeyFacts({ apiKey }: { readonly apiKey: ApiKey }): ReactNode {
  const { scopes, ip_allowlist: addresses, expires_at: end, last_used_at: used } = apiKey;
  return (
    <section className="card">
      <FactList>
        <Fact name="Starts with">
          <span className="id">{apiKey.hint}</span>
        </Fact>
        <Fact name="Permissions">
          <ul>
            {scopes.map((scope) => (
              <li key={scope}>{SCOPES[scope as Scope] ?? scope}</li>
            ))}
          </ul>
        </Fact>
        <Fact name="Allowed IP addresses">
          {addresses.length === 0 ? 'Any' : addresses.join(', ')}
        </Fact>
        <Fact name="Last used">{used === null ? 'Never' : <Time at={used} />}</Fact>
        <Fact name="Expires">{end === null ? 'Never' : <Time at={end} />}</Fact>
        <Fact name="Ended">{apiKey.revoked_at && <Time at={apiKey.revoked_at} />}</Fact>
        <Fact name="Replaces">
          {apiKey.rotated_from && <ObjectLink id={apiKey.rotated_from} />}
        </Fact>
        <Fact name="API version">{apiKey.api_version}</Fact>
        <Fact name="Created">
          <Time at={apiKey.created} />
        </Fact>
      </FactList>
    </section>
  );
}

function draftOf({ name, scopes, ip_allowlist, expires_at }: ApiKey): KeyDraft {
  return {
    name,
    scopes: scopes as Scope[],
    addresses: ip_allowlist.join(', '),
    expires: expires_at?.slice(0, 10) ?? '',
  };
}

interface KeyDialogProps {
  readonly apiKey: ApiKey;
  readonly onClose: () => void;
}

function EditKeyDialog({ apiKey, onClose }: KeyDialogProps): ReactNode {
  const { call } = useMerchant();
  const [opened] = useState(apiKey.version);
  const [draft, setDraft] = useState(() => draftOf(apiKey));
  const sending = useSend(KEY_FIELDS);
  const isStale = opened !== apiKey.version;
  const stored = (field: keyof KeyDraft) =>
    storedNow({ isStale, stored: String(draftOf(apiKey)[field]), typed: String(draft[field]) });
  const save = async () => {
    const body = { version: apiKey.version, ...keyBody(draft) };
    const path = { id: apiKey.id };
    const saved = await sending.send(() =>
      call('PATCH /accounts/{account}/{mode}/api_keys/{id}', { path, body }),
    );
    if (saved !== null) onClose();
  };
  return (
    <Dialog title="Change the key" onClose={onClose}>
      <Form sending={sending} onSend={save} send="Save" onCancel={onClose}>
        <ChangedMeanwhile isStale={isStale} />
        <KeyFields draft={draft} onChange={setDraft} sending={sending} stored={stored} />
      </Form>
    </Dialog>
  );
}

const OVERLAPS = [
  [0, 'Immediately'],
  [3_600, 'In one hour'],
  [86_400, 'In one day'],
  [604_800, 'In seven days'],
] as const;

interface RotateKeyDialogProps extends KeyDialogProps {
  readonly onRotated: (secret: string) => void;
}

function RotateKeyDialog({ apiKey, onRotated, onClose }: RotateKeyDialogProps): ReactNode {
  const { call } = useMerchant();
  const [overlap, setOverlap] = useState(86_400);
  const sending = useSend(['overlap_seconds']);
  const rotate = async () => {
    const made = await sending.send(() =>
      call('POST /accounts/{account}/{mode}/api_keys/{id}/rotate', {
        path: { id: apiKey.id },
        body: { overlap_seconds: overlap },
      }),
    );
    if (made !== null) onRotated(made.secret);
  };
  return (
    <Dialog title="Replace the key" onClose={onClose}>
      <Form sending={sending} onSend={rotate} send="Replace" onCancel={onClose}>
        <p>You get a new key with the same permissions. Update your server while both keys work.</p>
        <Select
          label="The old key stops working"
          value={overlap}
          onChange={(event) => setOverlap(Number(event.target.value))}
          error={sending.problemAt('overlap_seconds')}
        >
          {OVERLAPS.map(([seconds, words]) => (
            <option key={seconds} value={seconds}>
              {words}
            </option>
          ))}
        </Select>
      </Form>
    </Dialog>
  );
}

function RevokeKeyDialog({ apiKey, onClose }: KeyDialogProps): ReactNode {
  const { call } = useMerchant();
  return (
    <ConfirmDialog
      title="Revoke this key?"
      send="Revoke key"
      request={() =>
        call('POST /accounts/{account}/{mode}/api_keys/{id}/revoke', { path: { id: apiKey.id } })
      }
      onDone={onClose}
      onClose={onClose}
    >
      <p>
        Within a second <bdi>{apiKey.name}</bdi> stops working. This cannot be undone.
      </p>
    </ConfirmDialog>
  );
}
