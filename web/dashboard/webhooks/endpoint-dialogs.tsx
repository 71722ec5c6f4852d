import { type ReactNode, useState } from 'react';
import type { DashboardWebhookEndpoint } from '../../data/types/dashboard.ts';
import { ActionButton } from '../../desk/action-button.tsx';
import { ChangedMeanwhile } from '../../desk/concurrent-change.tsx';
import { ConfirmDialog } from '../../desk/confirm-dialog.tsx';
import { FormDialog } from '../../desk/form-dialog.tsx';
import { ShownOnce } from '../../desk/shown-once.tsx';
import { useSend } from '../../desk/use-send.ts';
import { Button } from '../../ui/button.tsx';
import { t } from '../../ui/text/t.ts';
import { useMerchant } from '../use-merchant.ts';
import {
  ENDPOINT_FIELDS,
  type EndpointDraft,
  EndpointFields,
  endpointBody,
} from './endpoint-fields.tsx';
import { ReplayDialog } from './replay-dialog.tsx';

export interface EndpointDialogsProps {
  readonly endpoint: DashboardWebhookEndpoint;
  readonly onDeleted: () => void;
}

export function EndpointDialogs({ endpoint, onDeleted }: EndpointDialogsProps): ReactNode {
  const { call } = useMerchant();
  const [open, setOpen] = useState<'edit' | 'replay' | 'rotate' | 'delete' | null>(null);
  const [secret, setSecret] = useState<string | null>(null);
  const close = () => setOpen(null);
  const path = { id: endpoint.id };
  return (
    <>
      <div className="row">
        <Button onClick={() => setOpen('edit')}>{t('dashboard.button.change')}</Button>
        <OnOff endpoint={endpoint} />
        <Button onClick={() => setOpen('replay')}>
          {t('dashboard.endpoint_dialogs.replay_events.button')}
        </Button>
        <Button onClick={() => setOpen('rotate')}>
          {t('dashboard.button.new_signing_secret')}
        </Button>
        <Button kind="danger-quiet" onClick={() => setOpen('delete')}>
          {t('dashboard.button.delete')}
        </Button>
      </div>
      {open === 'edit' ? <EditDialog endpoint={endpoint} onClose={close} /> : null}
      {open === 'replay' ? <ReplayDialog endpoint={endpoint.id} onClose={close} /> : null}
      {open === 'rotate' ? (
        <ConfirmDialog
          title={t('dashboard.endpoint_dialogs.a_new_signing_secret.heading')}
          send={t('dashboard.button.new_signing_secret')}
          kind="primary"
          request={() =>
            call('POST /accounts/{account}/{mode}/webhook_endpoints/{id}/rotate_secret', { path })
          }
          onDone={(made) => {
            close();
            setSecret(made.secret);
          }}
          onClose={close}
        >
          <p>{t('dashboard.endpoint.new_secret.text')}</p>
        </ConfirmDialog>
      ) : null}
      {open === 'delete' ? (
        <ConfirmDialog
          title={t('dashboard.endpoint_dialogs.delete_this_endpoint.heading')}
          send={t('dashboard.button.delete')}
          request={() => call('DELETE /accounts/{account}/{mode}/webhook_endpoints/{id}', { path })}
          onDone={onDeleted}
          onClose={close}
        >
          <p>{t('dashboard.endpoint.delete.text')}</p>
        </ConfirmDialog>
      ) : null}
      {secret === null ? null : <NewSecret secret={secret} onClose={() => setSecret(null)} />}
    </>
  );
}

interface NewSecretProps {
  readonly secret: string;
  readonly onClose: () => void;
}

function NewSecret(props: NewSecretProps): ReactNode {
  const title = t('dashboard.endpoint_dialogs.the_new_signing_secret.heading');
  return <ShownOnce {...props} title={title} label={t('dashboard.field.signing_secret')} />;
}

function OnOff({ endpoint }: { readonly endpoint: DashboardWebhookEndpoint }): ReactNode {
  const { call } = useMerchant();
  const isOn = endpoint.status === 'enabled';
  const status = isOn ? 'disabled' : 'enabled';
  return (
    <ActionButton
      request={() =>
        call('PATCH /accounts/{account}/{mode}/webhook_endpoints/{id}', {
          path: { id: endpoint.id },
          body: { version: endpoint.version, status },
        })
      }
    >
      {isOn ? t('dashboard.button.turn_off') : t('dashboard.button.turn_on')}
    </ActionButton>
  );
}

function draftOf(endpoint: DashboardWebhookEndpoint): EndpointDraft {
  const { url, enabled_events: events, description } = endpoint;
  return { url, events, description: description ?? '' };
}

interface EditDialogProps {
  readonly endpoint: DashboardWebhookEndpoint;
  readonly onClose: () => void;
}

function EditDialog({ endpoint, onClose }: EditDialogProps): ReactNode {
  const { call } = useMerchant();
  const stored = draftOf(endpoint);
  const [draft, setDraft] = useState<EndpointDraft>(stored);
  const [opened] = useState(endpoint.version);
  const isStale = opened !== endpoint.version;
  const sending = useSend(ENDPOINT_FIELDS);
  const save = async () => {
    const path = { id: endpoint.id };
    const saved = await sending.send(() =>
      call('PATCH /accounts/{account}/{mode}/webhook_endpoints/{id}', {
        path,
        body: { version: endpoint.version, ...endpointBody(draft) },
      }),
    );
    if (saved !== null) onClose();
  };
  return (
    <FormDialog
      title={t('dashboard.endpoint_dialogs.change_the_endpoint.heading')}
      onClose={onClose}
      sending={sending}
      onSend={save}
      send={t('desk.button.save')}
    >
      <ChangedMeanwhile isStale={isStale} />
      <EndpointFields
        draft={draft}
        onChange={setDraft}
        sending={sending}
        storedMeanwhile={isStale ? stored : null}
      />
    </FormDialog>
  );
}
