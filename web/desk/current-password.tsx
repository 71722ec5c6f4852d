import type { ReactNode } from 'react';
import { TextField, type TextFieldProps } from '../ui/field.tsx';
import { t } from '../ui/text/t.ts';

type CurrentPasswordProps = Pick<TextFieldProps, 'value' | 'onChange' | 'error' | 'hint'>;

export function CurrentPassword(field: CurrentPasswordProps): ReactNode {
  return (
    <TextField
      data-name="Password"
      label={t('desk.field.password')}
      type="password"
      autoComplete="current-password"
      {...field}
    />
  );
}
