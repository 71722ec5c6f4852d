import { type ReactNode, useState } from 'react';
import type { ListApiKeysResponse } from '../../data/types/dashboard.ts';
import { Form } from '../../desk/form.tsx';
import { List } from '../../desk/list.tsx';
import { useSend } from '../../desk/send.ts';
import { ShownOnce } from '../../desk/shown-once.tsx';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { Page } from '../../ui/shell.tsx';
import { ObjectStatus } from '../../ui/status.tsx';
import type { Column } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { useMerchant, useRead } from '../merchant.ts';
import { KEY_FIELDS, KeyFields, keyBody, NEW_KEY } from '../parts/api-key-fields.tsx';
import { ObjectLink } from '../parts/object-link.tsx';
import { RoleNeeded } from '../parts/role-needed.tsx';

export type ApiKey = ListApiKeysResponse['data'][number];

const COLUMNS: readonly Column<ApiKey>[] = [
  { name: 'Key', cell: ({ id }) => <ObjectLink id={id} /> },
  { name: 'Name', cell: ({ name }) => name },
  { name: 'Starts with', cell: ({ hint }) => <span className="id">{hint}</span> },
  { name: 'Status', cell: ({ status }) => <ObjectStatus status={status} /> },
  {
    name: 'Last used',
    cell: ({ last_used_at: used }) => (used === null ? 'Never' : <Time at={used} />),
  },
  {
    name: 'Expires',
    cell: ({ expires_at: end }) => (end === null ? 'Never' : <Time at={end} shape="day" />),
  },
];

export function ApiKeys(): ReactNode {
  const { may, mode } = useMerchant();
  const [isCreating, setIsCreating] = useState(false);
  const [secret, setSecret] = useState<string | null>(null);
  const query = useRead('GET /accounts/{account}/{mode}/api_keys', undefined, {
    enabled: may('admin'),
  });
  if (!may('admin')) return <RoleNeeded title="API keys" needs="admin" />;
  const create = (
    <Button kind="primary" onClick={() => setIsCreating(true)}>
      Create API key
    </Button>
  );
  return (
    <Page title="API keys" actions={create}>
      <List
        label="API keys"
        query={query}
        columns={COLUMNS}
        keyOf={({ id }) => id}
        empty={
          <EmptyState title="No keys yet">
            A key lets your server ask for payments in {mode} mode. It is shown once, when it is
            created.
          </EmptyState>
        }
      />
      {isCreating ? (
        <CreateKeyDialog
          onCreated={(made) => {
            setIsCreating(false);
            setSecret(made);
          }}
          onClose={() => setIsCreating(false)}
        />
      ) : null}
      {secret === null ? null : (
        <ShownOnce
          title="Your new API key"
          label="API key"
          secret={secret}
          onClose={() => setSecret(null)}
        >
          <p className="soft small">Keep it on your server only, never in an app or a web page.</p>
        </ShownOnce>
      )}
    </Page>
  );
}

interface CreateKeyDialogProps {
  readonly onCreated: (secret: string) => void;
  readonly onClose: () => void;
}

function CreateKeyDialog({ onCreated, onClose }: CreateKeyDialogProps): ReactNode {
  const { call, mode } = useMerchant();
  const [draft, setDraft] = useState(NEW_KEY);
  const sending = useSend(KEY_FIELDS);
  const create = async () => {
    if (draft.name.trim() === '') return sending.refuse('name', 'Enter where the key is used.');
    if (draft.scopes.length === 0)
      return sending.refuse('scopes', 'Choose at least one permission.');
    const made = await sending.send(() =>
      call('POST /accounts/{account}/{mode}/api_keys', { body: keyBody(draft) }),
    );
    if (made !== null) onCreated(made.secret);
  };
  return (
    <Dialog title={`A new key for ${mode} mode`} onClose={onClose}>
      <Form sending={sending} onSend={create} send="Create API key" onCancel={onClose}>
        <KeyFields draft={draft} onChange={setDraft} sending={sending} />
      </Form>
    </Dialog>
  );
}
