import { type ReactNode, useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { TextField } from '../../ui/field.tsx';
import { sumRules } from '../../ui/format-price.ts';
import { readItemPrice, writeItemPrice } from '../../ui/item-price.ts';
import { SumField } from '../../ui/sum-field.tsx';
import { t } from '../../ui/text/t.ts';
import type { CatalogItem } from './use-move-item.ts';

type Option = CatalogItem['options'][number];

const MOST_OPTIONS = 10;
const LONGEST_NAME = 60;

interface Typed {
  readonly key: number;
  readonly name: string;
  readonly price: string;
  /** The price that the form wrote; `null` if it wrote none. */
  readonly wrote: bigint | null;
}

/** Holds the options of an item as they are typed. */
export function useOptions(item: CatalogItem | null, currency: string | null) {
  const rules = sumRules(currency);
  const [typed, setTyped] = useState<readonly Typed[]>(() =>
    (item?.options ?? []).map(({ name, unit_amount }, key) => {
      const wrote = item?.currency === currency ? BigInt(unit_amount) : null;
      return { key, name, wrote, price: wrote === null ? '' : writeItemPrice(wrote, rules) };
    }),
  );
  const sumOf = ({ price, wrote }: Typed) => readItemPrice(price, { ...rules, wrote });
  /** Returns the options; `null` if one lacks its name or price. */
  const read = (): Option[] | null => {
    const options = typed.flatMap((one) => {
      const sum = sumOf(one);
      const name = one.name.trim();
      return name === '' || sum.is !== 'sum' ? [] : [{ name, unit_amount: Number(sum.units) }];
    });
    return options.length === typed.length ? options : null;
  };
  const add = () =>
    setTyped([...typed, { key: (typed.at(-1)?.key ?? 0) + 1, name: '', price: '', wrote: null }]);
  const change = (key: number, part: Partial<Typed> | null) =>
    setTyped(
      typed.flatMap((one) => {
        if (one.key !== key) return [one];
        return part === null ? [] : [{ ...one, ...part }];
      }),
    );
  return { typed, read, sumOf, add, change, currency };
}

interface OptionFieldsProps {
  readonly options: ReturnType<typeof useOptions>;
  readonly error: string | null;
  /** Called when the error no longer says what is typed. */
  readonly onEdit: () => void;
}

/** The choices of an item that change its price and name, such as "oat". */
export function OptionFields({ options, error, onEdit }: OptionFieldsProps): ReactNode {
  const { typed, sumOf, add, currency } = options;
  const change: typeof options.change = (...edit) => {
    if (error !== null) onEdit();
    options.change(...edit);
  };
  return (
    <fieldset className="stack">
      <legend>{t('dashboard.catalog.options.legend')}</legend>
      <p className="field-hint">{t('dashboard.catalog.options.hint')}</p>
      {typed.map((one, index) => (
        <div key={one.key} className="stack">
          <TextField
            label={t('dashboard.catalog.options.name', { number: index + 1 })}
            value={one.name}
            maxLength={LONGEST_NAME}
            onChange={({ target }) => change(one.key, { name: target.value })}
          />
          <SumField
            label={t('dashboard.catalog.options.price', { number: index + 1 })}
            value={one.price}
            sum={sumOf(one)}
            currency={currency}
            shows
            onText={(price) => change(one.key, { price })}
          />
          <div>
            <Button kind="danger-quiet" onClick={() => change(one.key, null)}>
              {t('dashboard.catalog.options.remove', { number: index + 1 })}
            </Button>
          </div>
        </div>
      ))}
      {error === null ? null : (
        <p className="field-error" role="alert">
          {error}
        </p>
      )}
      {typed.length < MOST_OPTIONS ? (
        <div>
          <Button onClick={add}>{t('dashboard.catalog.options.add')}</Button>
        </div>
      ) : null}
    </fieldset>
  );
}
