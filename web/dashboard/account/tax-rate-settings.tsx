import { type ReactNode, useState } from 'react';
import { named } from '#i18n/bidi-isolates.ts';
import { ChangedMeanwhile, storedNow, useOpened } from '../../desk/concurrent-change.tsx';
import { ConfirmDialog } from '../../desk/confirm-dialog.tsx';
import { FormDialog } from '../../desk/form-dialog.tsx';
import { Button } from '../../ui/button.tsx';
import { TextField } from '../../ui/field.tsx';
import { rateText, readPercent, writePercent } from '../../ui/percent.ts';
import { PercentField } from '../../ui/percent-field.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { t } from '../../ui/text/t.ts';
import { rich, unseen } from '../../ui/text/tagged-text.ts';
import { given } from '../../ui/text/untranslated-parts.ts';
import { useMerchant } from '../use-merchant.ts';
import { type Account, type AccountProps, useSaveAccount } from './account-settings.ts';

type TaxRate = Account['tax_rates'][number];

/** The most rates that an account may have (behavior.md 23.8). */
const MOST_RATES = 50;
const LONGEST_NAME = 100;

/** The open dialog: for a new rate, or to edit or remove one. */
type Open = { readonly is: 'edited'; readonly rate: TaxRate | null } | Removal;
interface Removal {
  readonly is: 'removed';
  readonly rate: TaxRate;
}

export function TaxRates({ account }: AccountProps): ReactNode {
  const { may } = useMerchant();
  const [open, setOpen] = useState<Open | null>(null);
  const { tax_rates: rates } = account;
  const close = () => setOpen(null);
  return (
    <section className="card stack">
      <h2>{t('dashboard.tax_rates.heading')}</h2>
      <p className="soft">{t('dashboard.tax_rates.text')}</p>
      {rates.length === 0 ? null : (
        <Table
          label={t('dashboard.tax_rates.heading')}
          columns={columns(may('admin') ? setOpen : null)}
          rows={rates}
          keyOf={({ name }) => name}
        />
      )}
      {may('admin') && rates.length < MOST_RATES ? (
        <div>
          <Button data-name="Add tax rate" onClick={() => setOpen({ is: 'edited', rate: null })}>
            {t('dashboard.tax_rates.add.button')}
          </Button>
        </div>
      ) : null}
      {rates.length < MOST_RATES ? null : (
        <p className="soft">{t('dashboard.tax_rates.full', { count: MOST_RATES })}</p>
      )}
      {open?.is === 'edited' ? (
        <RateDialog account={account} before={open.rate} onClose={close} />
      ) : null}
      {open?.is === 'removed' ? (
        <RemoveDialog account={account} rate={open.rate} onClose={close} />
      ) : null}
    </section>
  );
}

function columns(onOpen: ((open: Open) => void) | null): readonly Column<TaxRate>[] {
  const values: readonly Column<TaxRate>[] = [
    { name: t('dashboard.tax_rates.name.label'), cell: ({ name }) => given(name) },
    {
      name: t('dashboard.tax_rates.rate.label'),
      number: true,
      cell: ({ rate }) => <span className="amount">{rateText(rate)}</span>,
    },
  ];
  if (onOpen === null) return values;
  const actions: Column<TaxRate> = {
    name: t('dashboard.button.change'),
    cell: (rate) => (
      <span className="row">
        <Button onClick={() => onOpen({ is: 'edited', rate })}>
          {rich('dashboard.tax_rates.edit.button_of', { of: unseen }, { name: rate.name })}
        </Button>
        <Button kind="danger-quiet" onClick={() => onOpen({ is: 'removed', rate })}>
          {rich('dashboard.tax_rates.remove.button_of', { of: unseen }, { name: rate.name })}
        </Button>
      </span>
    ),
  };
  return [...values, actions];
}

interface RateDialogProps extends AccountProps {
  /** `null` for a new rate. */
  readonly before: TaxRate | null;
  readonly onClose: () => void;
}

/** Puts a rate into the list: replaces the one with this name, or adds it at the end. */
function withRate(rates: readonly TaxRate[], rate: TaxRate, name: string | null): TaxRate[] {
  const isThere = rates.some((one) => one.name === name);
  return isThere ? rates.map((one) => (one.name === name ? rate : one)) : [...rates, rate];
}

/** Saving it leaves the other stored rates unchanged. */
function RateDialog({ account, before, onClose }: RateDialogProps): ReactNode {
  const { tax_rates: rates } = account;
  const current = rates.find(({ name }) => name === before?.name) ?? null;
  const { isStale } = useOpened(current);
  const [name, setName] = useState(before?.name ?? '');
  const [typed, setTyped] = useState(before === null ? '' : writePercent(before.rate));
  const { sending, save } = useSaveAccount(account, ['name', 'rate']);
  const onSend = async () => {
    const rate = readPercent(typed);
    const own = name.trim();
    if (own === '') return sending.refuse('name', t('dashboard.tax_rates.name_missing'));
    if (rates.some((one) => one.name === own && one.name !== before?.name))
      return sending.refuse('name', t('dashboard.tax_rates.name_taken'));
    if (rate === null) return sending.refuse('rate', t('percent.invalid'));
    const tax_rates = withRate(rates, { name: own, rate }, before?.name ?? null);
    if ((await save({ tax_rates })) !== null) onClose();
  };
  const stored = current === null ? '' : writePercent(current.rate);
  const add = t('dashboard.tax_rates.add.button');
  return (
    <FormDialog
      title={before === null ? add : t('dashboard.tax_rates.edit.heading')}
      onClose={onClose}
      sending={sending}
      onSend={onSend}
      send={before === null ? add : t('desk.button.save')}
    >
      <ChangedMeanwhile isStale={isStale} />
      <TextField
        label={t('dashboard.tax_rates.name.label')}
        value={name}
        maxLength={LONGEST_NAME}
        onChange={({ target }) => setName(target.value)}
        hint={t('dashboard.tax_rates.name.hint')}
        error={sending.problemAt('name')}
      />
      <PercentField
        label={t('dashboard.tax_rates.rate.label')}
        value={typed}
        onText={setTyped}
        hint={storedNow({ isStale, stored, typed }) ?? t('dashboard.tax_rates.rate.hint')}
        error={sending.problemAt('rate')}
      />
    </FormDialog>
  );
}

interface RemoveDialogProps extends AccountProps {
  readonly rate: TaxRate;
  readonly onClose: () => void;
}

function RemoveDialog({ account, rate: { name, rate }, onClose }: RemoveDialogProps): ReactNode {
  const { call } = useMerchant();
  const { version, tax_rates: rates } = account;
  const body = { version, tax_rates: rates.filter((one) => one.name !== name) };
  return (
    <ConfirmDialog
      title={t('dashboard.tax_rates.remove.heading', { name, rate: rateText(rate) })}
      send={t('dashboard.tax_rates.remove.button')}
      request={() => call('PATCH /accounts/{account}', { body })}
      onDone={onClose}
      onClose={onClose}
    >
      <p>{t('dashboard.tax_rates.remove.text', { name: named(name) })}</p>
    </ConfirmDialog>
  );
}
