import type { ReactNode } from 'react';
import { TextField, type TextFieldProps } from './field.tsx';
import { rateText, readPercent } from './percent.ts';
import { t } from './text/t.ts';

export interface PercentFieldProps extends Omit<TextFieldProps, 'value' | 'onChange'> {
  readonly value: string;
  readonly onText: (text: string) => void;
}

/** An input for a percentage. It shows how the text was understood, or the error. */
export function PercentField({
  value,
  onText,
  hint,
  error,
  ...rest
}: PercentFieldProps): ReactNode {
  const rate = readPercent(value);
  const isWrong = rate === null && value.trim() !== '';
  return (
    <TextField
      inputMode="decimal"
      autoComplete="off"
      {...rest}
      value={value}
      hint={
        <>
          {hint}
          {rate === null ? null : (
            <span className="field-understood">{t('sum.understood', { sum: rateText(rate) })}</span>
          )}
        </>
      }
      error={isWrong ? t('percent.invalid') : (error ?? null)}
      onChange={(event) => onText(event.target.value)}
    />
  );
}
