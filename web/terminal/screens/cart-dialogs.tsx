import { type FormEvent, type ReactNode, useState } from 'react';
import { named } from '#i18n/bidi-isolates.ts';
import type { CatalogueItem, Device } from '../../data/device-api.ts';
import { Button } from '../../ui/button.tsx';
import { Choice } from '../../ui/choice.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/field.tsx';
import { formatMoney, sumRules } from '../../ui/format-price.ts';
import { rateText } from '../../ui/percent.ts';
import { quantityText } from '../../ui/quantity-text.ts';
import { SumField } from '../../ui/sum-field.tsx';
import { t } from '../../ui/text/t.ts';
import { Money } from '../../ui/typed-money.tsx';
import { readSum, type TypedSum } from '../../ui/typed-sum.ts';
import {
  type Cart,
  type CartLine,
  type Discount,
  discountOfLine,
  discountSale,
  fullPriceOf,
  type ItemOption,
  mostOff,
  readQuantity,
  type Sellable,
  withOptions,
} from '../cart.ts';
import { type Reduced, readDiscount, writeDiscount } from '../typed-discount.ts';

/** Basis points, one tap each. */
const SHARES = [500, 1_000, 2_000] as const;
type Preset = Device['discounts'][number];

/** Holds the text of a discount's field, and the discount that the form wrote into it. */
function useDiscount(stored: Discount, { most, currency }: Omit<Reduced, 'wrote'>) {
  const [wrote, setWrote] = useState(stored);
  const [text, setText] = useState(() => writeDiscount(stored, currency));
  const write = (next: Discount) => {
    setText(writeDiscount(next, currency));
    setWrote(next);
  };
  const own = wrote.rate === null ? BigInt(wrote.sum) : null;
  const read = readDiscount(text, { most, currency, wrote: own });
  const name = text === writeDiscount(wrote, currency) ? wrote.name : null;
  const discount = read.is === 'discount' ? { ...read.discount, name } : null;
  return { text, setText, write, read, discount, currency };
}

interface DiscountFieldProps extends ReturnType<typeof useDiscount> {
  readonly presets: readonly Preset[];
}

function DiscountField(props: DiscountFieldProps): ReactNode {
  const { text, setText, write, read, currency, presets } = props;
  const sum: TypedSum =
    read.is === 'discount' && read.takes > 0n
      ? { is: 'sum', units: read.takes, isWritten: false }
      : { is: 'empty' };
  return (
    <>
      <SumField
        data-name="Discount"
        label={t('till.cart.discount')}
        // A phone's number pad has no percent sign.
        inputMode="text"
        value={text}
        sum={sum}
        currency={currency}
        shows
        onText={setText}
        hint={t('till.cart.discount_hint', { example: rateText(1_200) })}
        error={read.is === 'refused' ? read.words : null}
      />
      <div className="row">
        {SHARES.map((rate) => (
          <Button
            key={rate}
            data-name={`${rate / 100} %`}
            onClick={() => write({ sum: 0, rate, name: null })}
          >
            {t('till.cart.share', { percent: String(rate / 100) })}
          </Button>
        ))}
        {presets.map(({ name, rate = null, amount = 0 }) => (
          <Button key={name} onClick={() => write({ sum: amount, rate, name })}>
            <bdi translate="no">{name}</bdi>
          </Button>
        ))}
      </div>
    </>
  );
}

interface Presets {
  /** The discounts that the account offers. */
  readonly presets: readonly Preset[];
}

export interface LineDialogProps extends Presets {
  readonly line: CartLine;
  readonly currency: string | null;
  readonly onClose: () => void;
  /** `null` removes the line. */
  readonly onChange: (change: Partial<CartLine> | null) => void;
}

export function LineDialog(props: LineDialogProps): ReactNode {
  const { line, currency, presets, onClose, onChange } = props;
  const [typed, setTyped] = useState(quantityText(line.quantity));
  const quantity = readQuantity(typed);
  const most = quantity === null ? 0n : fullPriceOf({ ...line, quantity });
  const { discount: sum, discount_rate: rate = null, discount_name: name = null } = line;
  const field = useDiscount({ sum, rate, name }, { most, currency });
  const { discount } = field;
  const takesDiscount = line.unit_amount > 0;
  const save = (event: FormEvent) => {
    event.preventDefault();
    if (quantity !== null && discount !== null) onChange({ quantity, ...discountOfLine(discount) });
  };
  return (
    <Dialog title={named(line.name)} onClose={onClose}>
      <form className="stack" onSubmit={save} noValidate>
        <TextField
          label={t('till.cart.quantity')}
          inputMode="decimal"
          autoComplete="off"
          value={typed}
          onChange={(event) => setTyped(event.target.value)}
          hint={t('till.cart.quantity_hint', { example: quantityText('0.350') })}
          error={quantity === null ? t('till.cart.problem.quantity') : null}
        />
        {takesDiscount ? <DiscountField {...field} presets={presets} /> : null}
        <Button
          type="submit"
          kind="primary"
          large
          disabled={quantity === null || discount === null}
        >
          {t('till.cart.save_button')}
        </Button>
        <Button kind="danger-quiet" onClick={() => onChange(null)}>
          {t('till.cart.remove_button')}
        </Button>
      </form>
    </Dialog>
  );
}

export interface DiscountDialogProps extends Presets {
  readonly cart: Cart;
  readonly onClose: () => void;
  readonly onCart: (cart: Cart) => void;
}

export function DiscountDialog(props: DiscountDialogProps): ReactNode {
  const { cart, presets, onClose, onCart } = props;
  const { currency, discount: sum, discountRate: rate = null, discountName: name = null } = cart;
  const field = useDiscount({ sum, rate, name }, { most: mostOff(cart), currency });
  const { discount } = field;
  const save = (event: FormEvent) => {
    event.preventDefault();
    if (discount !== null) onCart(discountSale(cart, discount));
  };
  return (
    <Dialog title={t('till.cart.discount_heading')} onClose={onClose}>
      <form className="stack" onSubmit={save} noValidate>
        <DiscountField {...field} presets={presets} />
        <Button data-name="Save" type="submit" kind="primary" large disabled={discount === null}>
          {t('till.cart.save_button')}
        </Button>
      </form>
    </Dialog>
  );
}

export interface OptionsDialogProps {
  readonly item: CatalogueItem;
  readonly onClose: () => void;
  readonly onAdd: (item: Sellable) => void;
}

/** Asks for the options of an item before it is added. */
export function OptionsDialog({ item, onClose, onAdd }: OptionsDialogProps): ReactNode {
  const [chosen, setChosen] = useState<readonly ItemOption[]>([]);
  const { currency } = item;
  const sold = withOptions(item, chosen);
  const choose = (option: ItemOption) => (isChosen: boolean) =>
    setChosen(item.options.filter((one) => (one === option ? isChosen : chosen.includes(one))));
  const add = (event: FormEvent) => {
    event.preventDefault();
    onAdd(sold);
  };
  return (
    <Dialog title={named(item.name)} onClose={onClose}>
      <form className="stack" onSubmit={add}>
        {item.options.map((option) => (
          <Choice
            key={option.name}
            type="checkbox"
            name="option"
            value={option.name}
            checked={chosen.includes(option)}
            onChange={choose(option)}
            label={<OptionLabel option={option} currency={currency} />}
          />
        ))}
        <Button data-name="Add" type="submit" kind="primary" large>
          {addWords(BigInt(sold.unit_amount), currency)}
        </Button>
      </form>
    </Dialog>
  );
}

function OptionLabel({
  option: { name, unit_amount: price },
  currency,
}: {
  readonly option: ItemOption;
  readonly currency: string | null;
}): ReactNode {
  return (
    <>
      <bdi translate="no">{name}</bdi>{' '}
      {price === 0 ? null : <Money units={BigInt(price)} currency={currency} />}
    </>
  );
}

export interface OtherAmountDialogProps {
  readonly currency: string | null;
  /** The tax rate of typed sums in basis points; `null` if there is none. */
  readonly taxRate: number | null;
  readonly onClose: () => void;
  readonly onAdd: (amount: Sellable) => void;
}

/** Matches the minus of a keyboard and that of typesetting. */
const MINUS = /^\s*[-−]/;

/** Adds a line without an item. A deposit that is returned is below 0. */
export function OtherAmountDialog(props: OtherAmountDialogProps): ReactNode {
  const { currency, taxRate, onClose, onAdd } = props;
  const [text, setText] = useState('');
  const sum = readSum(text.replace(MINUS, ''), sumRules(currency));
  const units = sum.is === 'sum' && sum.units > 0n ? sum.units : null;
  const price = units === null ? null : MINUS.test(text) ? -units : units;
  const add = (event: FormEvent) => {
    event.preventDefault();
    if (price === null) return;
    const tax = { tax_rate: taxRate ?? 0, tax_inclusive: true };
    onAdd({ id: null, name: t('till.amount'), unit_amount: Number(price), ...tax });
  };
  const button = price === null ? t('till.catalogue.add') : addWords(price, currency);
  return (
    <Dialog title={t('till.catalogue.other_amount')} onClose={onClose}>
      <form className="stack" onSubmit={add} noValidate>
        <SumField
          data-name="Amount"
          label={t('till.amount')}
          value={text}
          sum={sum}
          currency={currency}
          onText={setText}
        />
        <Button data-name="Add" type="submit" kind="primary" large disabled={price === null}>
          {button}
        </Button>
      </form>
    </Dialog>
  );
}

function addWords(units: bigint, currency: string | null): string {
  return t('till.catalogue.add_button', { sum: formatMoney(units, currency) });
}
