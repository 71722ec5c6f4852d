import { type ReactNode, useState } from 'react';
import { FormDialog } from '../../desk/form-dialog.tsx';
import { List } from '../../desk/short-list.tsx';
import { ShownOnce } from '../../desk/shown-once.tsx';
import { useSend } from '../../desk/use-send.ts';
import { Button } from '../../ui/button.tsx';
import { Page } from '../../ui/shell.tsx';
import { ObjectStatus } from '../../ui/status.tsx';
import type { Column } from '../../ui/table.tsx';
import { t } from '../../ui/text/t.ts';
import { given } from '../../ui/text/untranslated-parts.ts';
import { Time } from '../../ui/time.tsx';
import {
  type ApiKey,
  KEY_FIELDS,
  KeyFields,
  keyBody,
  NEW_KEY,
} from '../account/api-key-fields.tsx';
import { ObjectLink } from '../payments/object-link.tsx';
import { RoleNeeded } from '../sessions/role-needed.tsx';
import { useMerchant, useRead } from '../use-merchant.ts';

// Loaded as one file with this page, because each further file costs the first load some bytes.
export { ApiKeyPage } from './api-key.tsx';

const columns = (): readonly Column<ApiKey>[] => [
  { name: t('dashboard.api_keys.key.column'), cell: ({ id }) => <ObjectLink id={id} /> },
  { name: t('desk.field.name'), cell: ({ name }) => given(name) },
  {
    name: t('dashboard.field.starts_with'),
    cell: ({ hint }) => <span className="id">{hint}</span>,
  },
  { name: t('dashboard.field.status'), cell: ({ status }) => <ObjectStatus status={status} /> },
  {
    name: t('dashboard.field.last_used'),
    cell: ({ last_used_at: used }) => (used === null ? t('dashboard.never') : <Time at={used} />),
  },
  {
    name: t('dashboard.field.expires'),
    cell: ({ expires_at: end }) =>
      end === null ? t('dashboard.never') : <Time at={end} shape="day" />,
  },
];

/** Polling interval. Colleagues add and revoke keys too, and no event tells of them. */
const WATCH_MS = 5_000;

export function ApiKeys(): ReactNode {
  const { may, mode } = useMerchant();
  const [isCreating, setIsCreating] = useState(false);
  const [secret, setSecret] = useState<string | null>(null);
  const query = useRead('GET /accounts/{account}/{mode}/api_keys', undefined, {
    enabled: may('admin'),
    everyMs: WATCH_MS,
  });
  if (!may('admin')) return <RoleNeeded title={t('dashboard.page.api_keys')} needs="admin" />;
  const create = (
    <Button data-name="Create API key" kind="primary" onClick={() => setIsCreating(true)}>
      {t('dashboard.button.create_api_key')}
    </Button>
  );
  return (
    <Page title={t('dashboard.page.api_keys')} actions={create}>
      <List
        label={t('dashboard.page.api_keys')}
        query={query}
        columns={columns()}
        keyOf={({ id }) => id}
        empty={{
          title: t('dashboard.api_keys.empty.heading'),
          text: t('dashboard.api_keys.empty', { mode }),
        }}
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
          title={t('dashboard.api_keys.your_new_api_key.heading')}
          label={t('dashboard.api_keys.api_key.label')}
          secret={secret}
          onClose={() => setSecret(null)}
        >
          <p className="soft small">{t('dashboard.api_keys.made.keep')}</p>
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
    if (draft.name.trim() === '')
      return sending.refuse('name', t('dashboard.api_keys.create.name_missing'));
    if (draft.scopes.length === 0)
      return sending.refuse('scopes', t('dashboard.api_keys.create.scopes_missing'));
    const made = await sending.send(() =>
      call('POST /accounts/{account}/{mode}/api_keys', { body: keyBody(draft) }),
    );
    if (made !== null) onCreated(made.secret);
  };
  return (
    <FormDialog
      title={t('dashboard.api_keys.create.heading', { mode })}
      onClose={onClose}
      sending={sending}
      onSend={create}
      send={t('dashboard.button.create_api_key')}
      data-name="Create API key"
    >
      <KeyFields draft={draft} onChange={setDraft} sending={sending} />
    </FormDialog>
  );
}
