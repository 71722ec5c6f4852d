import { type FormEvent, type ReactNode, useEffect, useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { TextField } from '../../ui/field.tsx';
import { t } from '../../ui/text/t.ts';
import { type Opener, SHORTEST_PASSWORD, type Vault } from '../key-vault.ts';
import { isOpen } from '../keyring.ts';
import { canUsePasskeys } from '../passkey-secret.ts';
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
  const [password, setPassword] = useState('');
  const [repeated, setRepeated] = useState('');
  const [checked, setChecked] = useState(false);
  const short = [...password].length < SHORTEST_PASSWORD;
  const different = password !== repeated;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (busy) return;
    setChecked(true);
    if (!short && !different) onChosen({ by: 'password', password });
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
      <TextField
        data-name="Wallet password"
        label={t('wallet.password')}
        type="password"
        autoComplete="new-password"
        value={password}
        hint={t('wallet.password_hint', { count: SHORTEST_PASSWORD })}
        error={
          checked && short ? t('wallet.problem.password_short', { count: SHORTEST_PASSWORD }) : null
        }
        onChange={(event) => setPassword(event.target.value)}
      />
      <TextField
        data-name="Repeat wallet password"
        label={t('wallet.password_repeat')}
        type="password"
        autoComplete="new-password"
        value={repeated}
        error={checked && !short && different ? t('wallet.problem.password_differs') : null}
        onChange={(event) => setRepeated(event.target.value)}
      />
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
 * has a passkey.
 */
export function OpenerField(props: OpenerFieldProps): ReactNode {
  const { vault, password, error = null, always = false, onChange } = props;
  // Keeps the field while the user fills it in, but adds one that becomes necessary.
  const [wasOpen] = useState(() => isOpen(vault));
  const opens = wasOpen && isOpen(vault) && !always;
  if (vault.seal.by === 'passkey' || opens) return null;
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

export function openerOf({ seal }: Vault, password: string): Opener {
  return seal.by === 'passkey' ? { by: 'passkey' } : { by: 'password', password };
}
