import { type ReactNode, useState } from 'react';
import { Link, useParams } from 'wouter';
import type { Account, ShiftReport } from '../../data/types/dashboard.ts';
import { useFilters } from '../../desk/filters.tsx';
import { LoadTogether } from '../../desk/load-together.tsx';
import { Loaded } from '../../desk/loaded.tsx';
import { LongList } from '../../desk/long-list.tsx';
import { useSend } from '../../desk/use-send.ts';
import { Button } from '../../ui/button.tsx';
import { TextField } from '../../ui/field.tsx';
import { Page } from '../../ui/shell.tsx';
import { ShiftReportView } from '../../ui/shift-report.tsx';
import type { Column } from '../../ui/table.tsx';
import { t } from '../../ui/text/t.ts';
import { Time } from '../../ui/time.tsx';
import { useToast } from '../../ui/toast.tsx';
import { Money } from '../../ui/typed-money.tsx';
import { OtherMode } from '../sessions/other-mode.tsx';
import { useChosenDays } from '../statistics/chosen-days.ts';
import { ListFilters } from '../statistics/day-filters.tsx';
import { useLive } from '../statistics/use-live-refresh.ts';
import { TerminalFilter } from '../terminals/terminal-filter.tsx';
import { TerminalName } from '../terminals/terminal-names.tsx';
import { useMerchant, usePages, useRead } from '../use-merchant.ts';

/** In one file with shifts, because each file's name is part of the first load. */
export { Reports } from './reports.tsx';

function Totals({ figures }: ShiftReport): ReactNode {
  return figures.map(({ currency, sales, tips, refunded }) => (
    <div key={currency}>
      <Money
        units={BigInt(sales + tips - refunded)}
        currency={currency === 'usdc' ? null : currency}
      />
    </div>
  ));
}

const columns = (): readonly Column<ShiftReport>[] => [
  {
    name: t('dashboard.shifts.report'),
    cell: ({ id, number }) => (
      <Link href={`/dashboard/shifts/${id}`}>{t('till.report.heading', { number })}</Link>
    ),
  },
  { name: t('dashboard.field.terminal'), cell: ({ terminal }) => <TerminalName id={terminal} /> },
  { name: t('dashboard.shifts.ended'), cell: ({ ended_at: at }) => <Time at={at} /> },
  {
    name: t('dashboard.shifts.total'),
    number: true,
    cell: (report) => <Totals {...report} />,
  },
];

export function Shifts(): ReactNode {
  const filters = useFilters();
  const days = useChosenDays(filters);
  const terminal = filters.get('terminal');
  const pages = usePages('GET /accounts/{account}/{mode}/shifts', {
    query: { ...days, terminal },
  });
  useLive('shift.', pages.at(filters.cursor).queryKey);
  const { may } = useMerchant();
  return (
    <Page title={t('dashboard.page.shifts')}>
      <LoadTogether>
        {may('admin') ? <ReportEmail /> : null}
        <ListFilters filters={filters}>
          <TerminalFilter filters={filters} />
        </ListFilters>
        <LongList
          label={t('dashboard.page.shifts')}
          pages={pages}
          columns={columns()}
          keyOf={({ id }) => id}
          filters={filters}
          empty={{
            drawing: 'sales',
            title: t('dashboard.shifts.empty.heading'),
            text: t('dashboard.shifts.empty'),
          }}
        />
      </LoadTogether>
    </Page>
  );
}

function ReportEmail(): ReactNode {
  const query = useRead('GET /accounts/{account}');
  return (
    <section className="card stack">
      <Loaded query={query}>{(account) => <EmailForm account={account as Account} />}</Loaded>
    </section>
  );
}

function EmailForm({ account }: { readonly account: Account }): ReactNode {
  const { call } = useMerchant();
  const sending = useSend();
  const toast = useToast();
  const [email, setEmail] = useState(account.report_email ?? '');
  const { version, requested_report_email: requested } = account;
  const save = async () => {
    const body = { version, report_email: email.trim() === '' ? null : email.trim() };
    const saved = await sending.send(() => call('PATCH /accounts/{account}', { body }));
    if (saved !== null) toast(t('dashboard.shifts.email_saved'));
  };
  return (
    <>
      <TextField
        label={t('dashboard.shifts.email')}
        type="email"
        value={email}
        onChange={(event) => setEmail(event.target.value)}
        hint={
          requested === null
            ? t('dashboard.shifts.email_hint')
            : t('dashboard.shifts.email_requested', { email: requested })
        }
      />
      <div>
        <Button busy={sending.busy} onClick={save}>
          {t('dashboard.shifts.email_save')}
        </Button>
      </div>
      {sending.problem === null ? null : (
        <span className="field-error" role="alert">
          {sending.problem}
        </span>
      )}
    </>
  );
}

export function ShiftPage(): ReactNode {
  const { id = '' } = useParams();
  const query = useRead('GET /accounts/{account}/{mode}/shifts/{id}', { path: { id } });
  const { number } = query.data ?? {};
  return (
    <Page
      title={
        number === undefined ? t('dashboard.shifts.report') : t('till.report.heading', { number })
      }
    >
      <Loaded query={query} missing={<OtherMode />}>
        {(report) => (
          <>
            <ShiftReportView report={report} isCopy={false} />
            <div>
              <Button onClick={() => window.print()}>{t('till.print')}</Button>
            </div>
          </>
        )}
      </Loaded>
    </Page>
  );
}
