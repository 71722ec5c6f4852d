import type { ReactNode } from 'react';
import { ChangedMeanwhile } from '../../desk/concurrent-change.tsx';
import { Form } from '../../desk/form.tsx';
import { Select, TextField } from '../../ui/field.tsx';
import { rateText } from '../../ui/percent.ts';
import { Fact, FactList } from '../../ui/table.tsx';
import { t } from '../../ui/text/t.ts';
import { given } from '../../ui/text/untranslated-parts.ts';
import { useMerchant } from '../use-merchant.ts';
import { type Account, type AccountProps, useSettingsForm } from './account-settings.ts';

type Datev = NonNullable<Account['datev']>;

/** The usual accounts of each chart. No chart has a usual account for rounding. */
const CHARTS = {
  skr03: { name: 'SKR 03', revenue: { 700: '8300', 1900: '8400' }, clearing: '1360', bank: '1200' },
  skr04: { name: 'SKR 04', revenue: { 700: '4300', 1900: '4400' }, clearing: '1460', bank: '1800' },
} as const;
const OTHERS = ['tips', 'clearing', 'bank', 'rounding'] as const;
const NONE = 'none';

/** Settings of the books: when days start, and the accounts to which DATEV posts. */
export function BooksSettings({ account }: AccountProps): ReactNode {
  const { may } = useMerchant();
  return (
    <section className="card stack">
      <h2>{t('dashboard.books_settings.heading')}</h2>
      {may('admin') ? <BooksForm account={account} /> : <BooksFacts account={account} />}
    </section>
  );
}

function BooksFacts({ account: { day_starts_at, datev } }: AccountProps): ReactNode {
  return (
    <FactList>
      <Fact name={t('dashboard.books_settings.day_starts_at.label')}>{given(day_starts_at)}</Fact>
      <Fact name={t('dashboard.books_settings.chart.label')}>
        {datev === null ? t('dashboard.books_settings.no_datev') : given(CHARTS[datev.chart].name)}
      </Fact>
    </FactList>
  );
}

function valuesOf({ day_starts_at, datev }: Account) {
  return {
    day_starts_at,
    chart: datev?.chart ?? ('' as Datev['chart'] | ''),
    revenue: datev?.revenue ?? ({} as Datev['revenue']),
    tips: datev?.tips ?? '',
    clearing: datev?.clearing ?? '',
    bank: datev?.bank ?? '',
    rounding: datev?.rounding ?? '',
  };
}

type Values = ReturnType<typeof valuesOf>;

function withoutEmpty(revenue: Datev['revenue']): Datev['revenue'] {
  return Object.fromEntries(
    Object.entries(revenue)
      .map(([rate, account]) => [rate, account.trim()] as const)
      .filter(([, account]) => account !== ''),
  );
}

function changeOf({ day_starts_at, chart, revenue, ...others }: Values) {
  if (chart === '') return { day_starts_at, datev: null };
  const { tips, clearing, bank, rounding } = others;
  const accounts = { clearing: clearing.trim(), bank: bank.trim(), rounding: rounding.trim() };
  const datev = { chart, revenue: withoutEmpty(revenue), tips: tips.trim() || null, ...accounts };
  return { day_starts_at, datev };
}

/** Returns the accounts of another chart for fields that are empty, or have the usual account. */
function withChart(values: Values, chart: Values['chart']): Partial<Values> {
  if (chart === '') return { chart };
  const before = values.chart === '' ? null : CHARTS[values.chart];
  const next = CHARTS[chart];
  const proposed = (typed: string, usual: string | undefined, proposal: string) =>
    typed === '' || typed === usual ? proposal : typed;
  const revenue = { ...values.revenue };
  for (const rate of [700, 1900] as const) {
    revenue[rate] = proposed(revenue[rate] ?? '', before?.revenue[rate], next.revenue[rate]);
  }
  return {
    ...{ chart, revenue },
    clearing: proposed(values.clearing, before?.clearing, next.clearing),
    bank: proposed(values.bank, before?.bank, next.bank),
  };
}

/** Returns the shop's tax rates, and those that have an account already. */
function ratesOf({ tax_rates: rates }: Account, { revenue }: Values): number[] {
  const stored = Object.keys(revenue).filter((rate) => rate !== NONE);
  const all = new Set([...rates.map(({ rate }) => rate), ...stored.map(Number)]);
  return [...all].sort((one, other) => one - other);
}

const FORM = {
  fields: ['day_starts_at', 'datev', 'revenue', NONE, ...OTHERS],
  valuesOf,
  changeOf,
};

function BooksForm({ account }: AccountProps): ReactNode {
  const { values, set, isStale, sending, onSend } = useSettingsForm(account, FORM);
  return (
    <Form
      sending={sending}
      onSend={onSend}
      send={t('desk.button.save')}
      data-name="Save books settings"
    >
      <ChangedMeanwhile isStale={isStale} />
      <TextField
        label={t('dashboard.books_settings.day_starts_at.label')}
        type="time"
        max="11:59"
        value={values.day_starts_at}
        onChange={({ target }) => set({ day_starts_at: target.value })}
        hint={t('dashboard.books_settings.day_starts_at.hint')}
        error={sending.problemAt('day_starts_at')}
      />
      <Select
        label={t('dashboard.books_settings.chart.label')}
        value={values.chart}
        onChange={({ target }) => set(withChart(values, target.value as Values['chart']))}
        hint={t('dashboard.books_settings.chart.hint')}
        error={sending.problemAt('datev')}
      >
        <option value="">{t('dashboard.books_settings.no_datev')}</option>
        {Object.entries(CHARTS).map(([chart, { name }]) => (
          <option key={chart} value={chart} translate="no">
            {name}
          </option>
        ))}
      </Select>
      {values.chart === '' ? null : (
        <Accounts account={account} values={values} set={set} problemAt={sending.problemAt} />
      )}
    </Form>
  );
}

/** The name of a revenue field in the API's errors, which leave the rate out. */
const revenueOf = (rate: string) => (rate === NONE ? NONE : 'revenue');

interface AccountsProps extends AccountProps {
  readonly values: Values;
  readonly set: (change: Partial<Values>) => void;
  readonly problemAt: (field: string) => string | null;
}

/** One line per tax rate, and what each other account means. */
function Accounts({ account, values, set, problemAt }: AccountsProps): ReactNode {
  const { revenue } = values;
  const revenueField = (rate: string, label: string, hint: string) => (
    <TextField
      key={rate}
      label={label}
      inputMode="numeric"
      value={revenue[rate] ?? ''}
      onChange={({ target }) => set({ revenue: { ...revenue, [rate]: target.value } })}
      hint={hint}
      error={/^\d{4,8}$|^$/.test(revenue[rate] ?? '') ? null : problemAt(revenueOf(rate))}
    />
  );
  return (
    <>
      {ratesOf(account, values).map((rate) =>
        revenueField(
          String(rate),
          t('dashboard.books_settings.revenue.label', { rate: rateText(rate) }),
          t('dashboard.books_settings.revenue.hint'),
        ),
      )}
      {revenueField(
        NONE,
        t('dashboard.books_settings.no_items.label'),
        t('dashboard.books_settings.no_items.hint'),
      )}
      {OTHERS.map((name) => (
        <TextField
          key={name}
          label={t(`dashboard.books_settings.${name}.label`)}
          inputMode="numeric"
          value={values[name]}
          onChange={({ target }) => set({ [name]: target.value })}
          hint={t(`dashboard.books_settings.${name}.hint`)}
          error={problemAt(name)}
        />
      ))}
    </>
  );
}
