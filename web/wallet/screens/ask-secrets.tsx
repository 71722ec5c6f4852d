import { type FormEvent, type ReactNode, useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { t } from '../../ui/text/t.ts';
import { opensBy, type Secrets, type Vault } from '../key-vault.ts';
import { takeSecrets } from '../keyring.ts';
import { problemOf } from '../problem-words.ts';
import { ProblemNotice } from './problem-notice.tsx';
import { OpenerField, openerOf } from './unlock-method.tsx';

export interface AskSecretsProps {
  readonly vault: Vault;
  readonly about: string;
  readonly action: string;
  readonly 'data-name'?: string;
  /** May throw, for example a PasskeyError. */
  readonly onOpened: (secrets: Secrets) => void | Promise<void>;
  readonly onClose: () => void;
}

/** Asks for the password or passkey, even while the wallet is unlocked. */
export function AskSecrets(props: AskSecretsProps): ReactNode {
  const { vault, about, action, onOpened, onClose } = props;
  const [password, setPassword] = useState('');
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (busy) return;
    setBusy(true);
    setProblem(null);
    try {
      await onOpened(await takeSecrets(vault, openerOf(vault, password)));
    } catch (error) {
      setProblem(problemOf(error));
    }
    setBusy(false);
  };
  const hasField = password !== '' || !opensBy(vault, 'passkey');
  return (
    <form className="stack" onSubmit={submit} noValidate>
      <p>{about}</p>
      <OpenerField
        vault={vault}
        password={password}
        always
        error={problem}
        onChange={setPassword}
      />
      <ProblemNotice problem={hasField ? null : problem} />
      <Button data-name={props['data-name']} type="submit" kind="primary" large busy={busy}>
        {action}
      </Button>
      <Button kind="quiet" onClick={onClose}>
        {t('wallet.not_now')}
      </Button>
    </form>
  );
}
