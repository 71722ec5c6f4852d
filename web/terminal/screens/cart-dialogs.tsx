import { type FormEvent, type ReactNode, useState } from 'react';
import { named } from '#i18n/bidi-isolates.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/field.tsx';
import { formatMoney, sumRules } from '../../ui/format-price.ts';
import { quantityText } from '../../ui/quantity-text.ts';
import { SumField } from '../../ui/sum-field.tsx';
import { t } from '../../ui/text/t.ts';
import { readSum, writeSum } from '../../ui/typed-sum.ts';
import {
  type Cart,
  type CartLine,
  discountSale,
  fullPriceOf,
  linesTotal,
  readQuantity,
} from '../cart.ts';

/** Percentages of the price, one tap each. */
const SHARES = [5, 10, 20] as const;

/** Empty means no discount. */
function useDiscount(stored: number, currency: string | null) {
  const rules = sumRules(currency);
  const [wrote, setWrote] = useState(stored === 0 ? null : BigInt(stored));
  const [text, setText] = useState(wrote === null ? '' : writeSum(wrote, rules));
  const write = (units: bigint) => {
    setWrote(units);
    setText(writeSum(units, rules));
  };
  return { text, setText, write, sum: readSum(text, { ...rules, wrote }) };
}

type Discount = ReturnType<typeof useDiscount>;

function takenOff({ sum }: Discount, most: bigint): number | null {
  if (sum.is === 'empty') return 0;
  return sum.is === 'sum' && sum.units <= most ? Number(sum.units) : null;
}

interface DiscountFieldProps {
  readonly discount: Discount;
  readonly most: bigint;
  readonly currency: string | null;
}

function DiscountField({ discount, most, currency }: DiscountFieldProps): ReactNode {
  const { text, setText, write, sum } = discount;
  const isTooMuch = sum.is === 'sum' && sum.units > most;
  const share = (percent: number) => (most * BigInt(percent)) / 100n;
  return (
    <>
      <SumField
        label={t('till.cart.discount')}
        value={text}
        sum={sum}
        currency={currency}
        shows
        onText={setText}
        hint={t('till.cart.discount_hint')}
        error={
          isTooMuch ? t('till.cart.problem.discount', { sum: formatMoney(most, currency) }) : null
        }
      />
      <div className="row">
        {SHARES.filter((percent) => share(percent) > 0n).map((percent) => (
          <Button key={percent} onClick={() => write(share(percent))}>
            {t('till.cart.share', { percent: String(percent) })}
          </Button>
        ))}
      </div>
    </>
  );
}

export interface LineDialogProps {
  readonly line: CartLine;
  readonly currency: string | null;
  readonly onClose: () => void;
  /** `null` removes the line. */
  readonly onChange: (change: Pick<CartLine, 'quantity' | 'discount'> | null) => void;
}

export function LineDialog({ line, currency, onClose, onChange }: LineDialogProps): ReactNode {
  const [typed, setTyped] = useState(quantityText(line.quantity));
  const quantity = readQuantity(typed);
  const discount = useDiscount(line.discount, currency);
  const most = quantity === null ? 0n : fullPriceOf({ ...line, quantity });
  const less = takenOff(discount, most);
  const save = (event: FormEvent) => {
    event.preventDefault();
    if (quantity !== null && less !== null) onChange({ quantity, discount: less });
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
        <DiscountField discount={discount} most={most} currency={currency} />
        <Button type="submit" kind="primary" large disabled={quantity === null || less === null}>
          {t('till.cart.save_button')}
        </Button>
        <Button kind="danger-quiet" onClick={() => onChange(null)}>
          {t('till.cart.remove_button')}
        </Button>
      </form>
    </Dialog>
  );
}

export interface DiscountDialogProps {
  readonly cart: Cart;
  readonly onClose: () => void;
  readonly onCart: (cart: Cart) => void;
}

export function DiscountDialog({ cart, onClose, onCart }: DiscountDialogProps): ReactNode {
  const { currency } = cart;
  const most = linesTotal(cart);
  const discount = useDiscount(cart.discount, currency);
  const less = takenOff(discount, most);
  const save = (event: FormEvent) => {
    event.preventDefault();
    if (less !== null) onCart(discountSale(cart, less));
  };
  return (
    <Dialog title={t('till.cart.discount_heading')} onClose={onClose}>
      <form className="stack" onSubmit={save} noValidate>
        <DiscountField discount={discount} most={most} currency={currency} />
        <Button type="submit" kind="primary" large disabled={less === null}>
          {t('till.cart.save_button')}
        </Button>
      </form>
    </Dialog>
  );
}
