import { type ReactNode, useState } from 'react';
import { Link, useParams } from 'wouter';
import type { PaymentIntent, DashboardTerminal as Terminal } from '../../data/types/dashboard.ts';
import { ActionButton } from '../../desk/action-button.tsx';
import { ChangedMeanwhile, storedNow } from '../../desk/concurrent-change.tsx';
import { ConfirmButton } from '../../desk/confirm-button.tsx';
import { DialogButton } from '../../desk/dialog-button.tsx';
import { FormDialog } from '../../desk/form-dialog.tsx';
import { Headline } from '../../desk/headline.tsx';
import { Loaded } from '../../desk/loaded.tsx';
import { ShownOnce } from '../../desk/shown-once.tsx';
import { useTextForm } from '../../desk/use-text-form.ts';
import { TextField } from '../../ui/field.tsx';
import { Page } from '../../ui/shell.tsx';
import { ObjectStatus } from '../../ui/status.tsx';
import { Fact, FactList } from '../../ui/table.tsx';
import { t } from '../../ui/text/t.ts';
import { given } from '../../ui/text/untranslated-parts.ts';
import { Time } from '../../ui/time.tsx';
import { OfflineLimits } from '../account/offline-limits.tsx';
import { ObjectLink } from '../payments/object-link.tsx';
import { OtherMode } from '../sessions/other-mode.tsx';
import { TerminalTag } from '../terminals/counter-tag.tsx';
import { Pairing } from '../terminals/pairing.tsx';
import { RefundLimit } from '../terminals/refund-limit.tsx';
import { SmartTap } from '../terminals/smart-tap.tsx';
import { TerminalLocation } from '../terminals/terminal-location.tsx';
import { Software } from '../terminals/terminal-software.tsx';
import { useMerchant, useRead } from '../use-merchant.ts';

/** Polling interval, short enough to notice a device that has just connected. */
const WATCH_MS = 5_000;

export function TerminalPage(): ReactNode {
  const { id = '' } = useParams();
  const query = useRead(
    'GET /accounts/{account}/{mode}/terminals/{id}',
    { path: { id } },
    { everyMs: WATCH_MS },
  );
  return (
    <Page title={t('dashboard.field.terminal')}>
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
      <Headline of={terminal}>
        <h2>
          <bdi>{label}</bdi>
        </h2>
      </Headline>
      <div className="columns">
        <section className="card stack">
          <FactList>
            <Fact name={t('dashboard.field.last_seen')}>
              {seen === null ? t('dashboard.never') : <Time at={seen} />}
            </Fact>
            <Fact name={t('desk.field.name')}>{given(terminal.name)}</Fact>
            <Fact name={t('dashboard.field.software')}>
              <Software terminal={terminal} />
            </Fact>
            <Fact name={t('dashboard.field.added')}>
              <Time at={terminal.created} />
            </Fact>
            <Fact name={t('dashboard.terminal.sales.name')}>
              <Link href={`/dashboard/payments?terminal=${id}`}>
                {t('dashboard.terminal.view_payments.link')}
              </Link>
            </Fact>
          </FactList>
          <div className="row">
            {may('member') ? (
              <DialogButton words={t('dashboard.terminal.change_label.button')}>
                {(close) => <RenameDialog terminal={terminal} onClose={close} />}
              </DialogButton>
            ) : null}
            {may('admin') ? <OnOff id={id} isActive={isActive} /> : null}
            {may('admin') ? <NewKey id={id} /> : null}
          </div>
        </section>
        {may('admin') && isActive ? (
          <section className="card stack">
            <h2>{t('dashboard.terminal.connect_a_device.heading')}</h2>
            <Pairing terminal={id} />
          </section>
        ) : null}
        {mode === 'test' && may('member') && isActive ? <TestTap id={id} /> : null}
        <RefundLimit terminal={terminal} />
        <OfflineLimits terminal={terminal} />
        <TerminalLocation terminal={terminal} />
        <SmartTap terminal={terminal} />
        <TerminalTag terminal={terminal} />
      </div>
    </>
  );
}

/** Simulates the customer: pays the till's open payment with the test pass `ok`. */
function TestTap({ id }: { readonly id: string }): ReactNode {
  const { call } = useMerchant();
  const [tapped, setTapped] = useState<PaymentIntent | null>(null);
  return (
    <section className="card stack">
      <h2>{t('dashboard.terminal.act_as_the_customer.heading')}</h2>
      <p className="soft">{t('dashboard.terminal.test_tap.text')}</p>
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
        {t('dashboard.terminal.test_tap.button')}
      </ActionButton>
      {tapped === null ? null : (
        <p role="status">
          <ObjectStatus status={tapped.status} /> <ObjectLink id={tapped.payment ?? tapped.id} />
        </p>
      )}
    </section>
  );
}

interface RenameDialogProps {
  readonly terminal: Terminal;
  readonly onClose: () => void;
}

function RenameDialog({ terminal, onClose }: RenameDialogProps): ReactNode {
  const { call } = useMerchant();
  const { texts, sending, field } = useTextForm({ label: terminal.label });
  const [opened] = useState(terminal.version);
  const isStale = opened !== terminal.version;
  const save = async () => {
    const body = { version: terminal.version, label: texts.label.trim() };
    const path = { id: terminal.id };
    const saved = await sending.send(() =>
      call('PATCH /accounts/{account}/{mode}/terminals/{id}', { path, body }),
    );
    if (saved !== null) onClose();
  };
  return (
    <FormDialog
      title={t('dashboard.terminal.change_the_label.heading')}
      onClose={onClose}
      sending={sending}
      onSend={save}
      send={t('desk.button.save')}
    >
      <ChangedMeanwhile isStale={isStale} />
      <TextField
        label={t('dashboard.field.label')}
        hint={storedNow({ isStale, stored: terminal.label, typed: texts.label }) ?? undefined}
        {...field('label')}
      />
    </FormDialog>
  );
}

function OnOff({ id, isActive }: { readonly id: string; readonly isActive: boolean }): ReactNode {
  const { call } = useMerchant();
  const path = { id };
  if (!isActive) {
    return (
      <ActionButton
        request={() => call('POST /accounts/{account}/{mode}/terminals/{id}/activate', { path })}
      >
        {t('dashboard.button.turn_on')}
      </ActionButton>
    );
  }
  return (
    <ConfirmButton
      button="danger-quiet"
      title={t('dashboard.terminal.turn_off_this_till.heading')}
      send={t('dashboard.button.turn_off')}
      request={() => call('POST /accounts/{account}/{mode}/terminals/{id}/deactivate', { path })}
    >
      <p>{t('dashboard.terminal.turn_off.text')}</p>
    </ConfirmButton>
  );
}

function NewKey({ id }: { readonly id: string }): ReactNode {
  const { call } = useMerchant();
  const [key, setKey] = useState<string | null>(null);
  return (
    <>
      <ConfirmButton
        title={t('dashboard.terminal.replace_the_device_key.heading')}
        send={t('dashboard.button.replace_device_key')}
        request={() =>
          call('POST /accounts/{account}/{mode}/terminals/{id}/rotate_device_key', { path: { id } })
        }
        onDone={({ device_key }) => setKey(device_key)}
      >
        <p>{t('dashboard.terminal.new_key.text')}</p>
      </ConfirmButton>
      {key === null ? null : (
        <ShownOnce
          title={t('dashboard.terminal.the_new_device_key.heading')}
          label={t('dashboard.field.device_key')}
          secret={key}
          onClose={() => setKey(null)}
        />
      )}
    </>
  );
}
