import type { ReactNode } from 'react';
import { TextField } from '../ui/field.tsx';
import { t } from '../ui/text/t.ts';

interface CurrentPasswordProps {
  readonly value: string;
  readonly onText: (password: string) => void;
  readonly error: string | null;
  readonly hint?: string;
}

/** The field in which a person enters the password that they have. */
export function CurrentPassword({ value, onText, error, hint }: CurrentPasswordProps): ReactNode {
  return (
    <TextField
      data-name="Password"
      label={t('desk.field.password')}
      type="password"
      autoComplete="current-password"
      value={value}
      onChange={(event) => onText(event.target.value)}
      {...(hint === undefined ? {} : { hint })}
      error={error}
    />
  );
}
