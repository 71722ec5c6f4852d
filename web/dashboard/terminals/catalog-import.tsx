import { type ReactNode, useState } from 'react';
import { CATALOGUE_PROBLEMS, type CatalogueProblem } from '#core/catalogue-problems.ts';
import type { CatalogueImport } from '../../data/types/dashboard.ts';
import { Form } from '../../desk/form.tsx';
import { useSend } from '../../desk/use-send.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/field.tsx';
import { formatNumber } from '../../ui/numbers.ts';
import { type Column, Table } from '../../ui/table.tsx';
import { t } from '../../ui/text/t.ts';
import { useToast } from '../../ui/toast.tsx';
import { useMerchant } from '../use-merchant.ts';

type Row = CatalogueImport['rows'][number];

function problemWords(error: string): string {
  const codes = Object.keys(CATALOGUE_PROBLEMS) as CatalogueProblem[];
  const code = codes.find((one) => CATALOGUE_PROBLEMS[one] === error);
  // A newer service may know more reasons.
  return code === undefined ? error : t(`dashboard.catalog.import.problem.${code}`);
}

function RowResult({ action, error }: Row): ReactNode {
  if (error !== null) return <span className="field-error">{problemWords(error)}</span>;
  return <span>{t(`dashboard.catalog.import.action.${action}`)}</span>;
}

const columns = (): readonly Column<Row>[] => [
  { name: t('dashboard.catalog.import.row'), cell: ({ row }) => formatNumber(row) },
  {
    name: t('dashboard.catalog.name.label'),
    cell: ({ name }) => <bdi translate="no">{name}</bdi>,
  },
  { name: t('dashboard.catalog.import.result'), cell: (row) => <RowResult {...row} /> },
];

function Preview({ rows }: { readonly rows: readonly Row[] }): ReactNode {
  const refused = rows.filter(({ error }) => error !== null);
  // Refused rows come first, because nothing is imported until they are mended.
  const shown = [...refused, ...rows.filter(({ error }) => error === null)];
  return (
    <>
      <p role="status">
        {refused.length > 0
          ? t('dashboard.catalog.import.refused', { count: refused.length })
          : t('dashboard.catalog.import.ready', { count: changesIn(rows) })}
      </p>
      <Table
        label={t('dashboard.catalog.import.heading')}
        columns={columns()}
        rows={shown}
        keyOf={({ row }) => String(row)}
      />
    </>
  );
}

function changesIn(rows: readonly Row[]): number {
  return rows.filter(({ action }) => action !== 'none').length;
}

/** Imports items from a file, after showing what that changes. */
export function CatalogImport({ onClose }: { readonly onClose: () => void }): ReactNode {
  const { call } = useMerchant();
  const toast = useToast();
  const sending = useSend();
  const [file, setFile] = useState<Blob | null>(null);
  const [rows, setRows] = useState<readonly Row[] | null>(null);
  const isReady = rows !== null && changesIn(rows) > 0 && rows.every(({ error }) => error === null);
  const send = (chosen: Blob, preview: boolean) =>
    sending.send(() =>
      call('POST /accounts/{account}/{mode}/catalogue/import', {
        query: { preview },
        file: chosen,
      }),
    );
  const choose = async (chosen: File | undefined) => {
    setRows(null);
    sending.clear();
    // A browser takes the type from the system: Excel makes it that of its own files.
    const next = chosen === undefined ? null : new Blob([chosen], { type: 'text/csv' });
    setFile(next);
    const preview = next === null ? null : await send(next, true);
    if (preview !== null) setRows(preview.rows);
  };
  const run = async () => {
    if (file === null) return sending.refuse(null, t('dashboard.catalog.import.no_file'));
    if (!isReady) return;
    const done = await send(file, false);
    if (done === null) return;
    // Somebody has changed the catalog since the preview.
    if (!done.applied) return setRows(done.rows);
    toast(t('dashboard.catalog.import.done', { count: changesIn(done.rows) }));
    onClose();
  };
  return (
    <Dialog title={t('dashboard.catalog.import.heading')} onClose={onClose}>
      <Form
        sending={sending}
        onSend={run}
        onCancel={onClose}
        send={t('dashboard.catalog.import.button')}
        data-name="Import"
      >
        <TextField
          label={t('dashboard.catalog.import.file')}
          type="file"
          accept=".csv,text/csv"
          onChange={({ target }) => void choose(target.files?.[0])}
          hint={t('dashboard.catalog.import.hint')}
        />
        {rows === null ? null : <Preview rows={rows} />}
      </Form>
    </Dialog>
  );
}
