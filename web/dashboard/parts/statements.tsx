import { type ReactNode, useState } from 'react';
import { fromRoot } from '../../data/root-path.ts';
import type { Account, ListAutomaticPayoutsResponse } from '../../data/types/dashboard.ts';
import { Loaded } from '../../desk/loaded.tsx';
import { useSend } from '../../desk/send.ts';
import { Button } from '../../ui/button.tsx';
import { Select, TextField } from '../../ui/field.tsx';
import { Fact, FactList } from '../../ui/table.tsx';
import { t } from '../../ui/text/t.ts';
import { useToast } from '../../ui/toast.tsx';
import { useAccount, useMerchant, useRead } from '../merchant.ts';

/** Statements for the accountant, and the automatic actions at the end of a period. */

const FORMATS = ['csv', 'jsonl', 'camt.053.001.08', 'datev', 'xero', 'quickbooks'] as const;

export function Statements(): ReactNode {
  const { may } = useMerchant();
  const query = useAccount();
  return (
    <>
      <StatementFile />
      <Loaded query={query}>
        {(account) => (
          <section className="card stack">
            <h2>{t('dashboard.books.schedule.heading')}</h2>
            {may('owner') ? <PayoutChoice account={account} /> : null}
            {may('admin') ? <ScheduleForm account={account} /> : null}
            <Periods />
          </section>
        )}
      </Loaded>
    </>
  );
}

function FormatChoice(props: {
  readonly value: string;
  readonly onChange: (value: string) => void;
}): ReactNode {
  return (
    <Select
      label={t('dashboard.books.format')}
      value={props.value}
      onChange={(event) => props.onChange(event.target.value)}
    >
      {FORMATS.map((format) => (
        <option key={format} value={format} translate="no">
          {format}
        </option>
      ))}
    </Select>
  );
}

/** Chooses a month; the link downloads its statement. */
function StatementFile(): ReactNode {
  const { account, mode } = useMerchant();
  const [month, setMonth] = useState('');
  const [format, setFormat] = useState<string>('csv');
  const url = fromRoot(`api/dashboard/v1/accounts/${account.id}/${mode}/exports/statement`);
  url.searchParams.set('format', format);
  url.searchParams.set('month', month);
  return (
    <section className="card stack">
      <h2>{t('dashboard.books.heading')}</h2>
      <p className="soft">{t('dashboard.books.text')}</p>
      <TextField
        label={t('dashboard.books.month')}
        type="month"
        value={month}
        onChange={(event) => setMonth(event.target.value)}
      />
      <FormatChoice value={format} onChange={setFormat} />
      {/^\d{4}-\d{2}$/.test(month) ? (
        <a href={url.href} download>
          {t('dashboard.books.download')}
        </a>
      ) : null}
    </section>
  );
}

function useSettings({ version }: Account) {
  const { call } = useMerchant();
  const sending = useSend();
  const toast = useToast();
  const save = async (settings: Pick<Account, 'automatic_payout'> | ScheduleEdit) => {
    const body = { version, ...settings };
    const saved = await sending.send(() => call('PATCH /accounts/{account}', { body }));
    if (saved !== null) toast(t('dashboard.books.saved'));
  };
  return { sending, save };
}

type ScheduleEdit = Pick<Account, 'export_schedule'>;

function Problem({ problem }: { readonly problem: string | null }): ReactNode {
  if (problem === null) return null;
  return (
    <span className="field-error" role="alert">
      {problem}
    </span>
  );
}

function PayoutChoice({ account }: { readonly account: Account }): ReactNode {
  const { sending, save } = useSettings(account);
  const [every, setEvery] = useState(account.automatic_payout ?? '');
  const chosen = every === '' ? null : (every as NonNullable<Account['automatic_payout']>);
  return (
    <div className="stack">
      <Select
        label={t('dashboard.books.payout')}
        value={every}
        onChange={(event) => setEvery(event.target.value as typeof every)}
        hint={t('dashboard.books.payout_hint')}
      >
        <option value="">{t('dashboard.books.never')}</option>
        <option value="daily">{t('dashboard.books.daily')}</option>
        <option value="weekly">{t('dashboard.books.weekly')}</option>
      </Select>
      <div>
        <Button busy={sending.busy} onClick={() => save({ automatic_payout: chosen })}>
          {t('dashboard.books.save_payout')}
        </Button>
      </div>
      <Problem problem={sending.problem} />
    </div>
  );
}

function ScheduleForm({ account }: { readonly account: Account }): ReactNode {
  const { sending, save } = useSettings(account);
  const { export_schedule: stored } = account;
  const [every, setEvery] = useState<string>(stored?.every ?? '');
  const [format, setFormat] = useState<string>(stored?.format ?? 'csv');
  const [email, setEmail] = useState(stored?.email ?? '');
  const edited = {
    every,
    format,
    ...(email === '' ? {} : { email }),
  } as ScheduleEdit['export_schedule'];
  return (
    <div className="stack">
      <Select
        label={t('dashboard.books.statements')}
        value={every}
        onChange={(event) => setEvery(event.target.value)}
      >
        <option value="">{t('dashboard.books.never')}</option>
        <option value="day">{t('dashboard.books.daily')}</option>
        <option value="week">{t('dashboard.books.weekly')}</option>
        <option value="month">{t('dashboard.books.monthly')}</option>
      </Select>
      {every === '' ? null : (
        <>
          <FormatChoice value={format} onChange={setFormat} />
          <TextField
            label={t('dashboard.books.email')}
            type="email"
            value={email}
            onChange={(event) => setEmail(event.target.value)}
          />
        </>
      )}
      <div>
        <Button
          busy={sending.busy}
          onClick={() => save({ export_schedule: every === '' ? null : edited })}
        >
          {t('dashboard.books.save_schedule')}
        </Button>
      </div>
      <Problem problem={sending.problem} />
    </div>
  );
}

type Period = ListAutomaticPayoutsResponse['data'][number];

/** The periods that have ended lately, with the reason if nothing was paid out. */
function Periods(): ReactNode {
  const { data } = useRead('GET /accounts/{account}/{mode}/automatic_payouts');
  const periods = (data?.data ?? []).slice(0, 7);
  if (periods.length === 0) return null;
  return (
    <FactList>
      {periods.map((one) => (
        <Fact key={`${one.every} ${one.period}`} name={one.period}>
          {reasonText(one)}
        </Fact>
      ))}
    </FactList>
  );
}

function reasonText({ reason }: Period): string {
  return t('dashboard.books.reason', { reason: reason ?? 'none' });
}
