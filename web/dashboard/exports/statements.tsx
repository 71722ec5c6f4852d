import { type ReactNode, useState } from 'react';
import type { Account, ListAutomaticPayoutsResponse } from '../../data/types/dashboard.ts';
import { Loaded } from '../../desk/loaded.tsx';
import { useSend } from '../../desk/use-send.ts';
import { Amount } from '../../ui/amount.tsx';
import { Button } from '../../ui/button.tsx';
import { Select, TextField } from '../../ui/field.tsx';
import { Fact, FactList } from '../../ui/table.tsx';
import { t } from '../../ui/text/t.ts';
import { rich } from '../../ui/text/tagged-text.ts';
import { formatTime } from '../../ui/time.tsx';
import { useToast } from '../../ui/toast.tsx';
import { useAccount, useMerchant, useRead } from '../use-merchant.ts';
import { StatementFile } from './statement-file.tsx';
import { FormatChoice } from './statement-formats.tsx';

/** The smallest balance that is paid out automatically (behavior.md 8.6). */
const MIN_PAYOUT = 20_000_000n;

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
            {may('owner') ? null : <Chosen account={account} />}
            <Periods />
          </section>
        )}
      </Loaded>
    </>
  );
}

function Chosen({ account }: { readonly account: Account }): ReactNode {
  const { automatic_payout: payout, export_schedule: schedule } = account;
  return (
    <FactList>
      <Fact name={t('dashboard.books.payout')}>
        {t('dashboard.books.every', { every: payout ?? 'never' })}
      </Fact>
      <Fact name={t('dashboard.books.statements')}>
        {t('dashboard.books.every', { every: schedule?.every ?? 'never' })}
      </Fact>
    </FactList>
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
        hint={rich('dashboard.books.payout_hint', {
          sum: () => <Amount atoms={MIN_PAYOUT} still />,
        })}
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

function Periods(): ReactNode {
  const { data } = useRead('GET /accounts/{account}/{mode}/automatic_payouts');
  const periods = (data?.data ?? []).slice(0, 7);
  if (periods.length === 0) return null;
  return (
    <FactList>
      {periods.map((one) => (
        <Fact
          key={`${one.every} ${one.period}`}
          name={formatTime(`${one.period}T00:00:00.000Z`, 'day', 'UTC')}
        >
          {reasonText(one)}
        </Fact>
      ))}
    </FactList>
  );
}

function reasonText({ status, reason }: Period): string {
  const waiting = reason === 'refused' ? 'retried' : 'waiting';
  const shown = status === 'waiting' ? waiting : (reason ?? 'none');
  return t('dashboard.books.reason', { reason: shown });
}
