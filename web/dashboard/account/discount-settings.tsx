import { type ReactNode, useState } from 'react';
import { FormDialog } from '../../desk/form-dialog.tsx';
import { Button } from '../../ui/button.tsx';
import { Select, TextField } from '../../ui/field.tsx';
import { sumRules } from '../../ui/format-price.ts';
import { rateText, readPercent } from '../../ui/percent.ts';
import { PercentField } from '../../ui/percent-field.tsx';
import { SumField } from '../../ui/sum-field.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { t } from '../../ui/text/t.ts';
import { rich, unseen } from '../../ui/text/tagged-text.ts';
import { given } from '../../ui/text/untranslated-parts.ts';
import { Money } from '../../ui/typed-money.tsx';
import { readSum } from '../../ui/typed-sum.ts';
import { useMerchant } from '../use-merchant.ts';
import { type Account, type AccountProps, useSaveAccount } from './account-settings.ts';

type Discount = Account['discounts'][number];

/** The most discounts that an account may have. */
const MOST_DISCOUNTS = 20;
const LONGEST_NAME = 60;

/** The discounts that tills offer beside 5, 10 and 20 percent. */
export function DiscountSettings({ account }: AccountProps): ReactNode {
  const { may } = useMerchant();
  const [isOpen, setIsOpen] = useState(false);
  const { sending, save } = useSaveAccount(account, []);
  const { discounts } = account;
  const remove = ({ name }: Discount) =>
    void save({ discounts: discounts.filter((one) => one.name !== name) });
  return (
    <section className="card stack">
      <h2>{t('dashboard.discounts.heading')}</h2>
      <p className="soft">{t('dashboard.discounts.text')}</p>
      {discounts.length === 0 ? null : (
        <Table
          label={t('dashboard.discounts.heading')}
          columns={columns(account, may('admin') ? remove : null)}
          rows={discounts}
          keyOf={({ name }) => name}
        />
      )}
      {sending.problem === null ? null : (
        <p className="field-error" role="alert">
          {sending.problem}
        </p>
      )}
      {may('admin') && discounts.length < MOST_DISCOUNTS ? (
        <div>
          <Button data-name="Add discount" onClick={() => setIsOpen(true)}>
            {t('dashboard.discounts.add.button')}
          </Button>
        </div>
      ) : null}
      {isOpen ? <DiscountDialog account={account} onClose={() => setIsOpen(false)} /> : null}
    </section>
  );
}

function columns(
  { currency }: Account,
  onRemove: ((discount: Discount) => void) | null,
): readonly Column<Discount>[] {
  const values: readonly Column<Discount>[] = [
    { name: t('dashboard.tax_rates.name.label'), cell: ({ name }) => given(name) },
    {
      name: t('dashboard.discounts.value'),
      number: true,
      cell: ({ rate, amount = 0 }) =>
        rate === undefined ? (
          <Money units={BigInt(amount)} currency={currency} />
        ) : (
          <span className="amount">{rateText(rate)}</span>
        ),
    },
  ];
  if (onRemove === null) return values;
  const actions: Column<Discount> = {
    name: t('dashboard.button.change'),
    cell: (discount) => (
      <Button kind="danger-quiet" onClick={() => onRemove(discount)}>
        {rich('dashboard.tax_rates.remove.button_of', { of: unseen }, { name: discount.name })}
      </Button>
    ),
  };
  return [...values, actions];
}

type Kind = 'rate' | 'amount';

function useNewDiscount({ account, onClose }: AccountProps & { readonly onClose: () => void }) {
  const [currency] = useState(account.currency);
  const [name, setName] = useState('');
  const [kind, setKind] = useState<Kind>('rate');
  const [typed, setTyped] = useState('');
  const { sending, save } = useSaveAccount(account, ['name', 'value']);
  const rate = readPercent(typed);
  const sum = readSum(typed, sumRules(currency));
  const onSend = async () => {
    const own = name.trim();
    if (own === '') return sending.refuse('name', t('dashboard.tax_rates.name_missing'));
    if (account.discounts.some((one) => one.name === own))
      return sending.refuse('name', t('dashboard.discounts.name_taken'));
    if (kind === 'rate' && !rate) return sending.refuse('value', t('dashboard.discounts.no_value'));
    if (kind === 'amount' && sum.is !== 'sum')
      return sending.refuse('value', t('dashboard.discounts.no_value'));
    const value = sum.is === 'sum' && kind === 'amount' ? { amount: Number(sum.units) } : { rate };
    const added = { name: own, ...value } as Discount;
    if ((await save({ discounts: [...account.discounts, added] })) !== null) onClose();
  };
  return { currency, name, setName, kind, setKind, typed, setTyped, sum, sending, onSend };
}

function DiscountDialog(props: AccountProps & { readonly onClose: () => void }): ReactNode {
  const form = useNewDiscount(props);
  const { kind, typed, setTyped, sending } = form;
  const add = t('dashboard.discounts.add.button');
  const value = { value: typed, onText: setTyped, error: sending.problemAt('value') };
  return (
    <FormDialog
      title={add}
      onClose={props.onClose}
      sending={sending}
      onSend={form.onSend}
      send={add}
    >
      <TextField
        label={t('dashboard.tax_rates.name.label')}
        value={form.name}
        maxLength={LONGEST_NAME}
        onChange={({ target }) => form.setName(target.value)}
        hint={t('dashboard.discounts.name.hint')}
        error={sending.problemAt('name')}
      />
      <Select
        label={t('dashboard.discounts.kind')}
        value={kind}
        onChange={({ target }) => form.setKind(target.value as Kind)}
      >
        <option value="rate">{t('dashboard.discounts.rate')}</option>
        <option value="amount">{t('dashboard.discounts.amount')}</option>
      </Select>
      {kind === 'rate' ? (
        <PercentField label={t('dashboard.discounts.rate')} {...value} />
      ) : (
        <SumField
          label={t('dashboard.discounts.amount')}
          {...value}
          sum={form.sum}
          currency={form.currency}
          shows
        />
      )}
    </FormDialog>
  );
}
