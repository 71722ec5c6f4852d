import type { ReactNode } from 'react';
import { named } from '#i18n/bidi-isolates.ts';
import { TextField, type TextFieldProps } from './field.tsx';
import { formatMoney } from './format-price.ts';
import { t } from './text/t.ts';
import type { TypedSum } from './typed-sum.ts';

export interface SumFieldProps extends Omit<TextFieldProps, 'value' | 'onChange'> {
  readonly value: string;
  readonly onText: (text: string) => void;
  /** The result of `readSum` for the value. */
  readonly sum: TypedSum;
  /** The currency of the amount; USDC if absent. */
  readonly currency?: string | null;
  /**
   * True if the submit button does not show the amount, so that the field shows how it was
   * understood.
   */
  readonly shows?: boolean;
}

/** An input for an amount of money. Its label names the currency, and errors show at once. */
export function SumField(props: SumFieldProps): ReactNode {
  const { value, onText, sum, shows = false, currency = null, label, hint, error, ...rest } = props;
  const isTyped = sum.is === 'sum' && !sum.isWritten;
  const understood = shows && isTyped ? formatMoney(sum.units, currency) : null;
  const both = (
    <>
      {hint}
      <span className="field-understood">{t('sum.understood', { sum: understood ?? '' })}</span>
    </>
  );
  return (
    <TextField
      inputMode="decimal"
      autoComplete="off"
      {...rest}
      label={`${label} (${named((currency ?? 'usdc').toUpperCase())})`}
      value={value}
      hint={understood === null ? hint : both}
      error={sum.is === 'refused' ? sum.words : (error ?? null)}
      onChange={(event) => onText(event.target.value)}
    />
  );
}
