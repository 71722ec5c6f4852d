import { type ReactNode, useState } from 'react';
import { ChangedMeanwhile, storedNow, useOpened } from '../../desk/concurrent-change.tsx';
import { Form } from '../../desk/form.tsx';
import { useSend } from '../../desk/use-send.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Select, TextField } from '../../ui/field.tsx';
import { formatMoney, sumRules } from '../../ui/format-price.ts';
import { readItemPrice, writeItemPrice } from '../../ui/item-price.ts';
import { readPercent } from '../../ui/percent.ts';
import { SumField } from '../../ui/sum-field.tsx';
import { t } from '../../ui/text/t.ts';
import { useToast } from '../../ui/toast.tsx';
import type { Account } from '../account/account-settings.ts';
import { ColorChoice } from '../account/color-choice.tsx';
import { useMerchant } from '../use-merchant.ts';
import { positionAt } from './catalog-order.ts';
import { OptionFields, useOptions } from './item-options.tsx';
import { TaxFields, usualRate } from './item-tax-fields.tsx';
import type { CatalogItem } from './use-move-item.ts';

export interface CatalogDialogProps {
  readonly account: Account;
  readonly items: readonly CatalogItem[];
  /** The item to edit, or `null` to add one. */
  readonly item: CatalogItem | null;
  readonly onClose: () => void;
  readonly onDelete: (item: CatalogItem) => void;
}

const LONGEST_NAME = 200;
const LONGEST_CODE = 60;
const FIELDS = [
  ...['name', 'unit_amount', 'tax_rate', 'color', 'position'],
  ...['category', 'barcode', 'options'],
];

/**
 * Holds the state of the price field. Its currency is the shop's, even if the item had another one.
 */
function usePrice(item: CatalogItem | null, currency: string | null) {
  const [wrote] = useState(item?.currency === currency ? BigInt(item.unit_amount) : null);
  const rules = { ...sumRules(currency), wrote };
  const [value, onText] = useState(wrote === null ? '' : writeItemPrice(wrote, rules));
  return { value, onText, sum: readItemPrice(value, rules), currency, shows: true };
}

/** Returns the fields of an item that others may change while the dialog is open. */
function fieldsOf(item: CatalogItem | null) {
  if (item === null) return null;
  const { name, unit_amount, currency, tax_rate, tax_inclusive, color } = item;
  const { category, barcode, options } = item;
  const more = { category, barcode, options };
  return { name, unit_amount, currency, tax_rate, tax_inclusive, color, ...more };
}

function useItem({ account, items, item, onClose }: CatalogDialogProps) {
  const { call } = useMerchant();
  const toast = useToast();
  const others = items.filter(({ id }) => id !== item?.id);
  const before = item === null ? items.length : items.findIndex(({ id }) => id === item.id);
  const [name, setName] = useState(item?.name ?? '');
  // Keeps the currency from when the dialog opened, so that a price being typed keeps its meaning
  // if someone changes the shop's currency.
  const [currency] = useState(account.currency);
  const price = usePrice(item, currency);
  const [rate, setRate] = useState(String(item?.tax_rate ?? usualRate(account, items)));
  const [otherRate, setOtherRate] = useState('');
  const [isWithin, setIsWithin] = useState(item?.tax_inclusive ?? account.prices_include_tax);
  const [color, setColor] = useState(item?.color ?? null);
  const [category, setCategory] = useState(item?.category ?? '');
  const [barcode, setBarcode] = useState(item?.barcode ?? '');
  const options = useOptions(item, currency);
  const [index, setIndex] = useState(before);
  const sending = useSend(FIELDS);
  const current = items.find(({ id }) => id === item?.id) ?? item;
  const { isStale } = useOpened(fieldsOf(current));
  const points = rate === 'other' ? readPercent(otherRate) : Number(rate);
  const save = async () => {
    if (name.trim() === '') return sending.refuse('name', t('dashboard.catalog.problem.name'));
    if (price.sum.is === 'empty')
      return sending.refuse('unit_amount', t('dashboard.catalog.problem.price'));
    // The field already shows its problem.
    if (price.sum.is === 'refused') return;
    if (points === null) return sending.refuse('tax_rate', t('percent.invalid'));
    const chosen = options.read();
    if (chosen === null) return sending.refuse('options', t('dashboard.catalog.options.problem'));
    const body = {
      ...{ category: category.trim() || null, barcode: barcode.trim() || null, options: chosen },
      name: name.trim(),
      unit_amount: Number(price.sum.units),
      currency,
      tax_rate: points,
      tax_inclusive: isWithin,
      color,
      ...(index === before ? {} : { position: positionAt(others, index) }),
    };
    const saved = await sending.send(() =>
      current === null
        ? call('POST /accounts/{account}/{mode}/catalogue', { body })
        : call('PATCH /accounts/{account}/{mode}/catalogue/{item}', {
            path: { item: current.id },
            body: { ...body, version: current.version },
          }),
    );
    if (saved === null) return;
    toast(t('dashboard.settings.saved'));
    onClose();
  };
  return {
    ...{ name, setName, price, rate, setRate, otherRate, setOtherRate, isWithin, setIsWithin },
    ...{ category, setCategory, barcode, setBarcode, options },
    ...{ color, setColor, index, setIndex, others, points, sending, save, current, isStale },
  };
}

export function CatalogDialog(props: CatalogDialogProps): ReactNode {
  const { account, item, onClose, onDelete } = props;
  const form = useItem(props);
  const { sending, current, isStale, price } = form;
  const add = t('dashboard.catalog.add.button');
  return (
    <Dialog title={item === null ? add : t('dashboard.catalog.edit.heading')} onClose={onClose}>
      <Form
        sending={sending}
        onSend={form.save}
        onCancel={onClose}
        send={item === null ? add : t('desk.button.save')}
      >
        <ChangedMeanwhile isStale={isStale} />
        <TextField
          label={t('dashboard.catalog.name.label')}
          value={form.name}
          maxLength={LONGEST_NAME}
          onChange={({ target }) => form.setName(target.value)}
          hint={
            storedNow({ isStale, stored: current?.name ?? '', typed: form.name }) ??
            t('dashboard.catalog.name.hint')
          }
          error={sending.problemAt('name')}
        />
        <SumField
          label={t('dashboard.catalog.price.label')}
          {...price}
          hint={
            storedNow({ isStale, stored: storedPrice(current, price), typed: price.value }) ??
            priceHint(item, price.currency)
          }
          error={sending.problemAt('unit_amount')}
        />
        <TaxFields
          {...form}
          rates={account.tax_rates}
          also={item?.tax_rate ?? null}
          storedRate={isStale ? (current?.tax_rate ?? null) : null}
          error={sending.problemAt('tax_rate')}
        />
        <CodeFields {...form} />
        <ColorChoice
          color={form.color}
          onColor={form.setColor}
          error={sending.problemAt('color')}
        />
        <PositionSelect {...form} isNew={item === null} error={sending.problemAt('position')} />
      </Form>
      {current === null ? null : (
        <div>
          <Button kind="danger-quiet" onClick={() => onDelete(current)}>
            {t('dashboard.catalog.delete.button')}
          </Button>
        </div>
      )}
    </Dialog>
  );
}

function CodeFields(form: ReturnType<typeof useItem>): ReactNode {
  const { current, isStale, category, barcode, sending } = form;
  return (
    <>
      <TextField
        label={t('dashboard.catalog.category.label')}
        value={category}
        maxLength={LONGEST_CODE}
        onChange={({ target }) => form.setCategory(target.value)}
        hint={
          storedNow({ isStale, stored: current?.category ?? '', typed: category }) ??
          t('dashboard.catalog.category.hint')
        }
        error={sending.problemAt('category')}
      />
      <TextField
        label={t('dashboard.catalog.barcode.label')}
        value={barcode}
        maxLength={LONGEST_CODE}
        autoComplete="off"
        onChange={({ target }) => form.setBarcode(target.value)}
        hint={storedNow({ isStale, stored: current?.barcode ?? '', typed: barcode })}
        error={
          sending.problemAt('barcode') === null ? null : t('dashboard.catalog.barcode.problem')
        }
      />
      <OptionFields
        options={form.options}
        error={sending.problemAt('options')}
        onEdit={sending.clear}
      />
    </>
  );
}

/** Formats the stored price as the price field does. */
function storedPrice(item: CatalogItem | null, { value, currency }: ReturnType<typeof usePrice>) {
  if (item === null) return value;
  const units = BigInt(item.unit_amount);
  if (item.currency !== currency) return formatMoney(units, item.currency);
  return writeItemPrice(units, sumRules(currency));
}

function priceHint(item: CatalogItem | null, currency: string | null): string {
  const code = (currency ?? 'usdc').toUpperCase();
  if (item === null || item.currency === currency) {
    return t('dashboard.catalog.price.hint', { currency: code });
  }
  const before = formatMoney(BigInt(item.unit_amount), item.currency);
  return t('dashboard.catalog.price.hint_other', { currency: code, before });
}

type ItemForm = ReturnType<typeof useItem>;

interface PositionProps extends Pick<ItemForm, 'index' | 'setIndex' | 'others'> {
  readonly isNew: boolean;
  readonly error: string | null;
}

function PositionSelect({ index, setIndex, others, isNew, error }: PositionProps): ReactNode {
  if (others.length === 0) return null;
  return (
    <Select
      label={t('dashboard.catalog.position.label')}
      value={index}
      onChange={({ target }) => setIndex(Number(target.value))}
      hint={isNew ? t('dashboard.catalog.position.hint') : undefined}
      error={error}
    >
      <option value={0}>{t('dashboard.catalog.position.first')}</option>
      {others.map(({ id, name }, index) => (
        <option key={id} value={index + 1}>
          {t('dashboard.catalog.position.after', { name })}
        </option>
      ))}
    </Select>
  );
}
