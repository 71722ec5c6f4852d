import { type ReactNode, useState } from 'react';
import { useParams } from 'wouter';
import { named } from '#i18n/bidi-isolates.ts';
import { ChangedMeanwhile, storedNow } from '../../desk/concurrent-change.tsx';
import { ConfirmDialog } from '../../desk/confirm-dialog.tsx';
import { FormDialog } from '../../desk/form-dialog.tsx';
import { Headline } from '../../desk/headline.tsx';
import { Loaded } from '../../desk/loaded.tsx';
import { ShownOnce } from '../../desk/shown-once.tsx';
import { useSend } from '../../desk/use-send.ts';
import { Button } from '../../ui/button.tsx';
import { EmptyDrawing } from '../../ui/empty-drawing.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { Select } from '../../ui/field.tsx';
import { Page } from '../../ui/shell.tsx';
import { Fact, FactList } from '../../ui/table.tsx';
import { t } from '../../ui/text/t.ts';
import { Time } from '../../ui/time.tsx';
import {
  type ApiKey,
  KEY_FIELDS,
  type KeyDraft,
  KeyFields,
  keyBody,
} from '../account/api-key-fields.tsx';
import { type Scope, scopeWords } from '../account/api-key-scopes.tsx';
import { ObjectLink } from '../payments/object-link.tsx';
import { OtherMode } from '../sessions/other-mode.tsx';
import { RoleNeeded } from '../sessions/role-needed.tsx';
import { useMerchant, useRead } from '../use-merchant.ts';

export function ApiKeyPage(): ReactNode {
  const { id = '' } = useParams();
  const { may } = useMerchant();
  const query = useRead('GET /accounts/{account}/{mode}/api_keys', undefined, {
    enabled: may('admin'),
  });
  if (!may('admin')) return <RoleNeeded title={t('dashboard.api_key.heading')} needs="admin" />;
  return (
    <Page title={t('dashboard.api_key.page')}>
      <Loaded query={query}>
        {({ data }) => {
          const key = data.find((one) => one.id === id);
          if (key !== undefined) return <KeyView apiKey={key} />;
          return (
            <EmptyState
              drawing={<EmptyDrawing name="search" />}
              title={t('dashboard.api_key.heading.no_key')}
            >
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
      <Headline of={apiKey}>
        <h2>
          <bdi>{apiKey.name}</bdi>
        </h2>
      </Headline>
      <KeyFacts apiKey={apiKey} />
      {apiKey.status === 'active' ? (
        <div className="row">
          <Button onClick={() => setOpen('edit')}>{t('dashboard.button.change')}</Button>
          <Button onClick={() => setOpen('rotate')}>{t('dashboard.api_key.replace.button')}</Button>
          <Button kind="danger-quiet" onClick={() => setOpen('revoke')}>
            {t('dashboard.button.revoke_key')}
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
          title={t('dashboard.api_key.your_new_api_key.heading')}
          label={t('dashboard.api_key.label')}
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
        <Fact name={t('dashboard.field.starts_with')}>
          <span className="id">{apiKey.hint}</span>
        </Fact>
        <Fact name={t('dashboard.api_key.permissions.name')}>
          <ul>
            {scopes.map((scope) => (
              <li key={scope}>{scopeWords()[scope as Scope] ?? named(scope)}</li>
            ))}
          </ul>
        </Fact>
        <Fact name={t('dashboard.api_key.allowed_ip_addresses.name')}>
          {addresses.length === 0 ? t('dashboard.filter.any') : named(addresses.join(', '))}
        </Fact>
        <Fact name={t('dashboard.field.last_used')}>
          {used === null ? t('dashboard.never') : <Time at={used} />}
        </Fact>
        <Fact name={t('dashboard.field.expires')}>
          {end === null ? t('dashboard.never') : <Time at={end} />}
        </Fact>
        <Fact name={t('dashboard.api_key.ended.name')}>
          {apiKey.revoked_at && <Time at={apiKey.revoked_at} />}
        </Fact>
        <Fact name={t('dashboard.api_key.replaces.name')}>
          {apiKey.rotated_from && <ObjectLink id={apiKey.rotated_from} />}
        </Fact>
        <Fact name={t('dashboard.field.api_version')}>{apiKey.api_version}</Fact>
        <Fact name={t('dashboard.field.created')}>
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
    <FormDialog
      title={t('dashboard.api_key.change_the_key.heading')}
      onClose={onClose}
      sending={sending}
      onSend={save}
      send={t('desk.button.save')}
    >
      <ChangedMeanwhile isStale={isStale} />
      <KeyFields draft={draft} onChange={setDraft} sending={sending} stored={stored} />
    </FormDialog>
  );
}

const overlaps = () =>
  [
    [0, t('dashboard.api_key.immediately')],
    [3_600, t('dashboard.api_key.in_one_hour')],
    [86_400, t('dashboard.api_key.in_one_day')],
    [604_800, t('dashboard.api_key.in_seven_days')],
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
    <FormDialog
      title={t('dashboard.api_key.replace_the_key.heading')}
      onClose={onClose}
      sending={sending}
      onSend={rotate}
      send={t('dashboard.api_key.replace.button')}
    >
      <p>{t('dashboard.api_key.replace.text')}</p>
      <Select
        label={t('dashboard.api_key.rotate_key_dialog.label')}
        value={overlap}
        onChange={(event) => setOverlap(Number(event.target.value))}
        error={sending.problemAt('overlap_seconds')}
      >
        {overlaps().map(([seconds, words]) => (
          <option key={seconds} value={seconds}>
            {words}
          </option>
        ))}
      </Select>
    </FormDialog>
  );
}

function RevokeKeyDialog({ apiKey, onClose }: KeyDialogProps): ReactNode {
  const { call } = useMerchant();
  return (
    <ConfirmDialog
      title={t('dashboard.api_key.revoke_this_key.heading')}
      send={t('dashboard.button.revoke_key')}
      request={() =>
        call('POST /accounts/{account}/{mode}/api_keys/{id}/revoke', { path: { id: apiKey.id } })
      }
      onDone={onClose}
      onClose={onClose}
    >
      <p>{t('dashboard.api_key.revoke.text', { name: apiKey.name })}</p>
    </ConfirmDialog>
  );
}
