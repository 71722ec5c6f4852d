import { type ReactNode, useCallback, useState } from 'react';
import { fromRoot } from '../../data/root-path.ts';
import { Button } from '../../ui/button.tsx';
import { Select, TextField } from '../../ui/field.tsx';
import { formatUsdc } from '../../ui/format-usdc.ts';
import { saveFile } from '../../ui/save-file.ts';
import { t } from '../../ui/text/t.ts';
import { formatTime } from '../../ui/time.tsx';
import { useShopDays, useTimeZone } from '../account/time-zone.ts';
import { dayBefore } from '../statistics/day-bounds.ts';
import { useMerchant, useRead } from '../use-merchant.ts';
import { DownloadDialog } from './download-dialog.tsx';
import { FormatChoice } from './statement-formats.tsx';
import { type DownloadJob, openFile, useDownload } from './use-download.ts';

const PERIODS = ['month', 'days', 'payout'] as const;
type PeriodKind = (typeof PERIODS)[number];

/** Number of payouts that can be chosen, newest first. */
const PAYOUTS = 50;
/** Polling interval. A pending payout is paid within seconds. */
const WATCH_MS = 4_000;
const MONTH = /^\d{4}-\d{2}$/;

/** The user's selection for each kind of period. Empty strings mark missing values. */
interface Chosen {
  readonly month: string;
  readonly from: string;
  readonly to: string;
  readonly payout: string;
}

/** Returns the parameters of a period, or `null` if the selection is incomplete. */
function parametersOf(kind: PeriodKind, chosen: Chosen): Readonly<Record<string, string>> | null {
  const { month, from, to, payout } = chosen;
  if (kind === 'month') return MONTH.test(month) ? { month } : null;
  if (kind === 'days') return from !== '' && from <= to ? { from, to } : null;
  return payout === '' ? null : { payout };
}

export function StatementFile(): ReactNode {
  const { account, mode } = useMerchant();
  const shop = useShopDays();
  const [kind, setKind] = useState<PeriodKind>('month');
  const [edited, setEdited] = useState<Partial<Chosen>>({});
  const [format, setFormat] = useState('csv');
  const [started, setStarted] = useState<string | null>(null);
  const yesterday = dayBefore(1, shop);
  const month = lastMonth(dayBefore(0, shop));
  const chosen = { month, from: yesterday, to: yesterday, payout: '', ...edited };
  const parameters = parametersOf(kind, chosen);
  const start = () => {
    const root = `api/dashboard/v1/accounts/${account.id}/${mode}/exports/statement`;
    const url = fromRoot(root);
    const split = format === 'datev' ? { split: 'true' } : {};
    for (const [name, value] of Object.entries({ format, ...split, ...parameters })) {
      url.searchParams.set(name, value);
    }
    setStarted(url.href);
  };
  return (
    <section className="card stack">
      <h2>{t('dashboard.books.heading')}</h2>
      <p className="soft">{t('dashboard.books.text')}</p>
      <Select
        label={t('dashboard.books.period')}
        value={kind}
        onChange={(event) => setKind(event.target.value as PeriodKind)}
      >
        {PERIODS.map((name) => (
          <option key={name} value={name}>
            {t(`dashboard.books.period.${name}`)}
          </option>
        ))}
      </Select>
      <PeriodFields
        kind={kind}
        chosen={chosen}
        onChange={(edit) => setEdited({ ...edited, ...edit })}
      />
      <FormatChoice value={format} onChange={setFormat} />
      <div>
        <Button disabled={parameters === null} onClick={start}>
          {t('dashboard.books.download')}
        </Button>
      </div>
      {started === null ? null : <Download url={started} onClose={() => setStarted(null)} />}
    </section>
  );
}

interface PeriodFieldsProps {
  readonly kind: PeriodKind;
  readonly chosen: Chosen;
  readonly onChange: (edit: Partial<Chosen>) => void;
}

function PeriodFields({ kind, chosen, onChange }: PeriodFieldsProps): ReactNode {
  const timeZone = useTimeZone();
  if (kind === 'payout') {
    return <PayoutChoice value={chosen.payout} onChange={(payout) => onChange({ payout })} />;
  }
  if (kind === 'month') {
    return (
      <TextField
        label={t('dashboard.books.month')}
        type="month"
        value={chosen.month}
        onChange={(event) => onChange({ month: event.target.value })}
        hint={t('dashboard.books.month_hint', { timeZone })}
      />
    );
  }
  return (['from', 'to'] as const).map((name) => (
    <TextField
      key={name}
      label={t(`dashboard.export.${name}`)}
      type="date"
      value={chosen[name]}
      onChange={(event) => onChange({ [name]: event.target.value })}
    />
  ));
}

function lastMonth(today: string): string {
  const first = new Date(`${today.slice(0, 7)}-01T00:00:00.000Z`);
  return new Date(first.getTime() - 86_400_000).toISOString().slice(0, 7);
}

function PayoutChoice(props: {
  readonly value: string;
  readonly onChange: (value: string) => void;
}): ReactNode {
  const timeZone = useTimeZone();
  const { data } = useRead(
    'GET /accounts/{account}/{mode}/withdrawals',
    { query: { limit: PAYOUTS } },
    { everyMs: WATCH_MS },
  );
  const paid = (data?.data ?? []).filter(({ status }) => status === 'succeeded');
  return (
    <Select
      label={t('dashboard.books.payout_of')}
      value={props.value}
      onChange={(event) => props.onChange(event.target.value)}
      hint={t('dashboard.books.payout_of_hint')}
    >
      <option value="">{t('dashboard.books.choose')}</option>
      {paid.map(({ id, amount, created }) => (
        <option key={id} value={id}>
          {`${formatTime(created, 'full', timeZone)}, ${formatUsdc(BigInt(amount))}`}
        </option>
      ))}
    </Select>
  );
}

const NEWLINE = 10;

/** The formats with at least one line for each entry; others have no rows of 0.00. */
const WHOLE = new Set(['csv', 'jsonl', 'camt.053.001.08']);

/** Each entry is about one line, so the number of lines shows the progress. */
function statementJob(url: string): DownloadJob {
  let parts: Uint8Array<ArrayBuffer>[] = [];
  let bytes = 0;
  let lines = 0;
  let entries = 0;
  let fileName = 'statement';
  const dropBroken = () => {
    parts = [];
    bytes = 0;
    lines = 0;
  };
  return {
    receive: async (signal, show) => {
      dropBroken();
      const { body, headers, name } = await openFile(url, signal);
      entries = Number(headers.get('Statement-Entries'));
      fileName = name ?? fileName;
      const reader = body.getReader();
      for (;;) {
        const { value, done } = await reader.read();
        if (done) break;
        parts.push(value);
        bytes += value.length;
        for (const byte of value) if (byte === NEWLINE) lines++;
        show();
      }
      // A proxy may end a truncated response as if it were complete. One line precedes the entries.
      const isWhole = WHOLE.has(new URL(url).searchParams.get('format') ?? 'csv');
      if (isWhole && lines <= entries) throw new Error('the answer ended before its last entry');
    },
    dropBroken,
    progress: () => {
      const rows = Math.max(0, Math.min(lines - 1, entries));
      return { rows, bytes, share: entries === 0 ? null : rows / entries };
    },
    save: () => saveFile(parts, fileName),
  };
}

function Download(props: { readonly url: string; readonly onClose: () => void }): ReactNode {
  const { url } = props;
  const run = useDownload(useCallback(() => statementJob(url), [url]));
  return (
    <DownloadDialog
      title={t('dashboard.books.heading')}
      run={run}
      brokenText={t('dashboard.books.broken_text')}
      onClose={props.onClose}
    />
  );
}
