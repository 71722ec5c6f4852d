import { type ReactNode, useState } from 'react';
import { fromRoot } from '../../data/root.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Select, TextField } from '../../ui/field.tsx';
import { Notice } from '../../ui/notice.tsx';
import { sizeWords } from '../../ui/size-words.ts';
import type { Tone } from '../../ui/status.tsx';
import { useMerchant } from '../merchant.ts';
import type { ExportFormat } from './export-records.ts';
import { useTimeZone } from './time-zone.ts';
import { type ExportState, useExport } from './use-export.ts';

/** What can be exported, and what the file holds. */
const KINDS = {
  payments: 'Payments',
  payment_intents: 'Intents, with the declined ones',
  refunds: 'Refunds',
  withdrawals: 'Withdrawals',
} as const;

export type ExportKind = keyof typeof KINDS;

/** `GET /accounts/{account}/{mode}/exports/payments` and its three sisters. */
function exportUrl(
  place: { readonly account: string; readonly mode: string },
  wanted: {
    readonly kind: string;
    readonly from: string;
    readonly to: string;
    readonly format: string;
  },
): string {
  const path = `api/dashboard/v1/accounts/${place.account}/${place.mode}/exports/${wanted.kind}`;
  const url = fromRoot(path);
  for (const name of ['from', 'to', 'format'] as const) {
    if (wanted[name] !== '') url.searchParams.set(name, wanted[name]);
  }
  return url.href;
}

export interface ExportDialogProps {
  readonly of: ExportKind;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly onClose: () => void;
}

/** Chooses what to export, then shows it coming. */
export function ExportDialog(props: ExportDialogProps): ReactNode {
  const { account, mode } = useMerchant();
  const timeZone = useTimeZone();
  const [kind, setKind] = useState<string>(props.of);
  const [from, setFrom] = useState(props.from ?? '');
  const [to, setTo] = useState(props.to ?? '');
  const [format, setFormat] = useState<ExportFormat>('csv');
  const [started, setStarted] = useState<string | null>(null);
  const href = exportUrl({ account: account.id, mode }, { kind, from, to, format });
  if (started !== null) {
    return <Download url={started} format={format} onClose={props.onClose} />;
  }
  return (
    <Dialog title="Export" onClose={props.onClose}>
      <Select label="What" value={kind} onChange={(event) => setKind(event.target.value)}>
        {Object.entries(KINDS).map(([name, words]) => (
          <option key={name} value={name}>
            {words}
          </option>
        ))}
      </Select>
      <TextField
        label="From"
        type="date"
        value={from}
        onChange={(event) => setFrom(event.target.value)}
        hint={`Leave empty for all. Days are in ${timeZone}.`}
      />
      <TextField
        label="To"
        type="date"
        value={to}
        onChange={(event) => setTo(event.target.value)}
        hint="The whole day is included. Leave empty for up to now."
      />
      <Select
        label="Format"
        value={format}
        onChange={(event) => setFormat(event.target.value as ExportFormat)}
      >
        <option value="csv">CSV, for spreadsheets and accounting</option>
        <option value="csv_atoms">CSV in atoms, for programs</option>
        <option value="jsonl">JSON Lines, for programs</option>
      </Select>
      <div className="row">
        <Button kind="primary" onClick={() => setStarted(href)}>
          Download
        </Button>
        <Button onClick={props.onClose}>Cancel</Button>
      </div>
    </Dialog>
  );
}

interface DownloadProps {
  readonly url: string;
  readonly format: ExportFormat;
  readonly onClose: () => void;
}

const TITLES: Readonly<Record<ExportState['is'], string>> = {
  asking: 'Starting…',
  coming: 'Downloading…',
  broken: 'The connection was lost',
  refused: 'The export was refused',
  done: 'Download complete',
};

const TONES: Readonly<Record<ExportState['is'], Tone>> = {
  asking: 'info',
  coming: 'info',
  broken: 'warn',
  refused: 'bad',
  done: 'good',
};

/** Rows as they arrive; after a broken connection it goes on behind the last row. */
function Download({ url, format, onClose }: DownloadProps): ReactNode {
  const { state, resume } = useExport(url, format);
  const { is, rows, bytes, share, words } = state;
  return (
    <Dialog title="Export" onClose={onClose}>
      <Notice tone={TONES[is]} role="status">
        <strong>{TITLES[is]}</strong>
        <p>{words ?? `${rows.toLocaleString('en-US')} rows, ${sizeWords(bytes)}`}</p>
      </Notice>
      {is === 'coming' || is === 'asking' || is === 'broken' ? (
        <progress
          className="wide"
          aria-label="Progress"
          max={1}
          {...(share === null ? {} : { value: share })}
        >
          {share === null ? 'Downloading…' : `${Math.round(share * 100)} %`}
        </progress>
      ) : null}
      {is === 'broken' ? (
        <p>The rows received so far are kept. Continue resumes after the last one.</p>
      ) : null}
      <div className="row">
        {is === 'broken' ? (
          <Button kind="primary" onClick={resume}>
            Continue
          </Button>
        ) : null}
        <Button onClick={onClose}>{is === 'done' ? 'Done' : 'Stop'}</Button>
      </div>
    </Dialog>
  );
}
