import { type FormEvent, type ReactNode, useEffect, useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { TextField } from '../../ui/field.tsx';
import { t } from '../../ui/text/t.ts';
import { type Opener, opensBy, type Vault } from '../key-vault.ts';
import { isOpen } from '../keyring.ts';
import { canUsePasskeys } from '../passkey-secret.ts';
import { PasswordFields, usePasswordFields } from './password-fields.tsx';
import { ProblemNotice } from './problem-notice.tsx';

export interface NewOpenerProps {
  /** Label of the submit button. Scripts find it by its English name. */
  readonly action: string;
  readonly 'data-name': string;
  readonly busy: boolean;
  readonly problem: string | null;
  /** Content above the password, for example the private key of an imported wallet. */
  readonly children?: ReactNode;
  readonly onChosen: (opener: Opener) => void;
}

function useHasPasskeys(): boolean {
  const [has, setHas] = useState(false);
  useEffect(() => {
    void canUsePasskeys().then(setHas);
  }, []);
  return has;
}

/**
 * Asks the user to protect a new wallet, with a passkey if the device has one, or else with a
 * password.
 */
export function NewOpener(props: NewOpenerProps): ReactNode {
  const { action, busy, problem, children, onChosen } = props;
  const hasPasskeys = useHasPasskeys();
  const fields = usePasswordFields();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (busy) return;
    const password = fields.check();
    if (password !== null) onChosen({ by: 'password', password });
  };
  return (
    <form className="stack" onSubmit={submit} noValidate>
      {children}
      {hasPasskeys ? (
        <>
          <Button kind="primary" large busy={busy} onClick={() => onChosen({ by: 'passkey' })}>
            {t('wallet.passkey.button')}
          </Button>
          <p className="soft small">{t('wallet.passkey.text')}</p>
        </>
      ) : null}
      <PasswordFields fields={fields} />
      <ProblemNotice problem={problem} />
      <Button
        data-name={props['data-name']}
        type="submit"
        kind={hasPasskeys ? 'plain' : 'primary'}
        large
        busy={busy}
      >
        {action}
      </Button>
    </form>
  );
}

export interface OpenerFieldProps {
  readonly vault: Vault;
  readonly password: string;
  readonly error?: string | null;
  /** True to ask even while the wallet is unlocked, because the form shows the key. */
  readonly always?: boolean;
  readonly onChange: (password: string) => void;
}

/**
 * Asks for the password if the form needs it to sign. Shows nothing if the wallet is unlocked or
 * has a passkey; beside the passkey, a password can be chosen.
 */
export function OpenerField(props: OpenerFieldProps): ReactNode {
  const { vault, password, error = null, always = false, onChange } = props;
  // Keeps the field while the user fills it in, but adds one that becomes necessary.
  const [wasOpen] = useState(() => isOpen(vault));
  const opens = wasOpen && isOpen(vault) && !always;
  const [typing, setTyping] = useState(false);
  if (opens) return null;
  if (opensBy(vault, 'passkey') && !typing) {
    if (!opensBy(vault, 'password')) return null;
    return (
      <Button kind="quiet" onClick={() => setTyping(true)}>
        {t('wallet.passkey.password_button')}
      </Button>
    );
  }
  return (
    <TextField
      data-name="Wallet password"
      label={t('wallet.password')}
      type="password"
      autoComplete="current-password"
      value={password}
      error={error}
      onChange={(event) => onChange(event.target.value)}
    />
  );
}

/** Returns the passkey if the vault has one and no password was typed. */
export function openerOf(vault: Vault, password: string): Opener {
  const types = opensBy(vault, 'password') && (password !== '' || !opensBy(vault, 'passkey'));
  return types ? { by: 'password', password } : { by: 'passkey' };
}
