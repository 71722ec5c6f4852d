import { type ReactNode, useState } from 'react';
import { TextField } from '../../ui/field.tsx';
import { t } from '../../ui/text/t.ts';
import { SHORTEST_PASSWORD } from '../key-vault.ts';

export interface PasswordFieldsState {
  readonly password: string;
  readonly repeated: string;
  readonly isShort: boolean;
  readonly differs: boolean;
  setPassword(password: string): void;
  setRepeated(repeated: string): void;
  /** Shows what is wrong. @returns the password, or `null` if something is. */
  check(): string | null;
}

export function usePasswordFields(): PasswordFieldsState {
  const [password, setPassword] = useState('');
  const [repeated, setRepeated] = useState('');
  const [checked, setChecked] = useState(false);
  const short = [...password].length < SHORTEST_PASSWORD;
  const different = password !== repeated;
  return {
    ...{ password, repeated, setPassword, setRepeated },
    isShort: checked && short,
    differs: checked && !short && different,
    check: () => {
      setChecked(true);
      return short || different ? null : password;
    },
  };
}

/** The fields for a new password. */
export function PasswordFields({ fields }: { readonly fields: PasswordFieldsState }): ReactNode {
  return (
    <>
      <TextField
        data-name="Wallet password"
        label={t('wallet.password')}
        type="password"
        autoComplete="new-password"
        value={fields.password}
        hint={t('wallet.password_hint', { count: SHORTEST_PASSWORD })}
        error={
          fields.isShort ? t('wallet.problem.password_short', { count: SHORTEST_PASSWORD }) : null
        }
        onChange={(event) => fields.setPassword(event.target.value)}
      />
      <TextField
        data-name="Repeat wallet password"
        label={t('wallet.password_repeat')}
        type="password"
        autoComplete="new-password"
        value={fields.repeated}
        error={fields.differs ? t('wallet.problem.password_differs') : null}
        onChange={(event) => fields.setRepeated(event.target.value)}
      />
    </>
  );
}
