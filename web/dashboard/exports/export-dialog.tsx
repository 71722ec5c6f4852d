import { type ReactNode, useState } from 'react';
import { fromRoot } from '../../data/root-path.ts';
import { DialogButton } from '../../desk/dialog-button.tsx';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Select, TextField } from '../../ui/field.tsx';
import { t } from '../../ui/text/t.ts';
import { useTimeZone } from '../account/time-zone.ts';
import { useMerchant } from '../use-merchant.ts';
import { DownloadDialog } from './download-dialog.tsx';
import type { ExportFormat } from './export-records.ts';
import { useExport } from './use-export.ts';

const KINDS = [
  'payments',
  'payment_intents',
  'refunds',
  'withdrawals',
  'offline_payments',
] as const;

export type ExportKind = (typeof KINDS)[number];

/**
 * Returns the URL of an export (a route such as `GET /accounts/{account}/{mode}/exports/payments`).
 */
function exportUrl(
  target: { readonly account: string; readonly mode: string },
  input: {
    readonly kind: string;
    readonly from: string;
    readonly to: string;
    readonly format: string;
  },
): string {
  const path = `api/dashboard/v1/accounts/${target.account}/${target.mode}/exports/${input.kind}`;
  const url = fromRoot(path);
  for (const name of ['from', 'to', 'format'] as const) {
    if (input[name] !== '') url.searchParams.set(name, input[name]);
  }
  return url.href;
}

export interface ExportButtonProps {
  readonly of: ExportKind;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

export function ExportButton(props: ExportButtonProps): ReactNode {
  return (
    <DialogButton words={t('dashboard.button.export')}>
      {(close) => <ExportDialog {...props} onClose={close} />}
    </DialogButton>
  );
}

/** Lets the user choose an export, then shows the download's progress. */
function ExportDialog(props: ExportButtonProps & { readonly onClose: () => void }): ReactNode {
  const { account, mode } = useMerchant();
  const timeZone = useTimeZone();
  const [kind, setKind] = useState<string>(props.of);
  const [from, setFrom] = useState(props.from ?? '');
  const [to, setTo] = useState(props.to ?? '');
  const [format, setFormat] = useState<ExportFormat>('csv');
  const [started, setStarted] = useState<string | null>(null);
  const href = exportUrl({ account: account.id, mode }, { kind, from, to, format });
  if (started !== null) {
    return <ExportDownload url={started} format={format} onClose={props.onClose} />;
  }
  return (
    <Dialog title={t('dashboard.button.export')} onClose={props.onClose}>
      <Select
        label={t('dashboard.export.what')}
        value={kind}
        onChange={(event) => setKind(event.target.value)}
      >
        {KINDS.map((name) => (
          <option key={name} value={name}>
            {t(`dashboard.export_kind.${name}`)}
          </option>
        ))}
      </Select>
      <TextField
        label={t('dashboard.export.from')}
        type="date"
        value={from}
        onChange={(event) => setFrom(event.target.value)}
        hint={t('dashboard.export.from_hint', { timeZone })}
      />
      <TextField
        label={t('dashboard.export.to')}
        type="date"
        value={to}
        onChange={(event) => setTo(event.target.value)}
        hint={t('dashboard.export.to_hint')}
      />
      <Select
        label={t('dashboard.export.format')}
        value={format}
        onChange={(event) => setFormat(event.target.value as ExportFormat)}
      >
        <option value="csv">{t('dashboard.export.format.csv')}</option>
        <option value="csv_atoms">{t('dashboard.export.format.csv_atoms')}</option>
        <option value="jsonl">{t('dashboard.export.format.jsonl')}</option>
      </Select>
      <div className="row">
        <Button kind="primary" onClick={() => setStarted(href)}>
          {t('dashboard.export.download')}
        </Button>
        <Button onClick={props.onClose}>{t('desk.button.cancel')}</Button>
      </div>
    </Dialog>
  );
}

export function ExportDownload(props: {
  readonly url: string;
  readonly format: ExportFormat;
  readonly onClose: () => void;
}): ReactNode {
  const run = useExport(props.url, props.format);
  return (
    <DownloadDialog
      title={t('dashboard.button.export')}
      run={run}
      brokenText={t('dashboard.export.broken_text')}
      onClose={props.onClose}
    />
  );
}
