import type { ReactNode } from 'react';
import { TextField } from '../../ui/field.tsx';
import { t } from '../../ui/text/t.ts';
import type { TillContext } from './till-context.ts';

const LONGEST = 40;

/** Lets the cashier enter a name for the next payments. Payments in progress keep theirs. */
export function CashierField({ settings, change }: TillContext): ReactNode {
  return (
    <TextField
      label={t('till.cashier.label')}
      autoComplete="off"
      dir="auto"
      maxLength={LONGEST}
      value={settings.cashier}
      onChange={(event) => change({ cashier: event.target.value })}
      onBlur={(event) => change({ cashier: event.target.value.trim() })}
      hint={t('till.cashier.hint')}
    />
  );
}
