import { type ReactNode, useState } from 'react';
import { fromRoot } from '../../data/root-path.ts';
import type { Organization, OrganizationTotals } from '../../data/types/dashboard.ts';
import { Loaded } from '../../desk/loaded.tsx';
import { Amount } from '../../ui/amount.tsx';
import { Button } from '../../ui/button.tsx';
import { TextField } from '../../ui/field.tsx';
import { formatNumber } from '../../ui/numbers.ts';
import { type Column, Table } from '../../ui/table.tsx';
import { t } from '../../ui/text/t.ts';
import { given } from '../../ui/text/untranslated-parts.ts';
import { ExportDownload } from '../exports/export-dialog.tsx';
import { useMerchant, useRead } from '../use-merchant.ts';
import { accountColumn } from './organization-locations.tsx';

interface Row extends Pick<OrganizationTotals['total'], 'payments' | 'sales' | 'refunded'> {
  readonly key: string;
  readonly place: string;
  /** The account; `null` for the sum of all accounts. */
  readonly account: string | null;
}

function rowsOf({ locations, total }: OrganizationTotals): readonly Row[] {
  const rows: readonly Row[] = locations.map(({ location, name, ...one }) => ({
    ...one,
    key: location ?? one.account,
    place: name === null ? t('dashboard.organization.no_location') : given(name),
  }));
  if (rows.length < 2) return rows;
  return [...rows, { ...total, key: 'all', place: t('dashboard.organization.all'), account: null }];
}

const columns = (accounts: Organization['accounts']): readonly Column<Row>[] => [
  { name: t('dashboard.organization.location.column'), cell: ({ place }) => place },
  ...accountColumn(accounts),
  {
    name: t('dashboard.page.payments'),
    number: true,
    cell: ({ payments }) => formatNumber(payments),
  },
  {
    name: t('dashboard.organization.sales'),
    number: true,
    cell: ({ sales }) => <Amount atoms={BigInt(sales)} />,
  },
  {
    name: t('dashboard.page.refunds'),
    number: true,
    cell: ({ refunded }) => <Amount atoms={BigInt(refunded)} />,
  },
];

/** The totals of one day by location; each location counts the day in its own time zone. */
export function OrganizationSales(props: { readonly organization: Organization }): ReactNode {
  const { id, accounts } = props.organization;
  const [day, setDay] = useState('');
  const query = useRead(
    'GET /organizations/{org}/{mode}/totals',
    { path: { org: id }, query: day === '' ? {} : { from: day } },
    { keepsBefore: true },
  );
  return (
    <section className="stack">
      <h2>{t('dashboard.organization.sales.heading')}</h2>
      <p className="soft">{t('dashboard.organization.sales.text')}</p>
      <TextField
        label={t('dashboard.organization.day')}
        type="date"
        value={day}
        onChange={(event) => setDay(event.target.value)}
        hint={t('dashboard.organization.day.hint')}
      />
      <Loaded query={query} shape="rows">
        {(totals) =>
          totals.locations.length === 0 ? (
            <p className="soft">{t('dashboard.organization.sales.empty')}</p>
          ) : (
            <>
              <Table
                label={t('dashboard.organization.sales.heading')}
                columns={columns(accounts)}
                rows={rowsOf(totals)}
                keyOf={({ key }) => key}
              />
              <Download id={id} from={totals.from} to={totals.to} />
            </>
          )
        }
      </Loaded>
    </section>
  );
}

/**
 * Downloads the payments as a file. Its range may end tomorrow, because some locations are a day
 * ahead.
 */
function Download(props: { readonly id: string; readonly from: string; readonly to: string }) {
  const { mode } = useMerchant();
  const [url, setUrl] = useState<string | null>(null);
  const start = () => {
    const file = fromRoot(`api/dashboard/v1/organizations/${props.id}/${mode}/exports/payments`);
    file.searchParams.set('from', props.from);
    file.searchParams.set('to', props.to);
    setUrl(file.href);
  };
  return (
    <div>
      <Button onClick={start}>{t('dashboard.organization.download')}</Button>
      {url === null ? null : <ExportDownload url={url} format="csv" onClose={() => setUrl(null)} />}
    </div>
  );
}
