import { type FormEvent, type ReactNode, useState } from 'react';
import type { Hex } from '../../data/bytes.ts';
import { Button } from '../../ui/button.tsx';
import { CopyField } from '../../ui/copy-field.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/field.tsx';
import { t } from '../../ui/text/t.ts';
import { useToast } from '../../ui/toast.tsx';
import { useHere } from '../wallet-context.tsx';
import { keep } from '../wallet-storage.ts';
import { AskSecrets } from './ask-secrets.tsx';

/**
 * Number of the key's last characters that the user types, as proof that the key is stored
 * elsewhere.
 */
const PROOF_LENGTH = 6;

interface StepProps {
  readonly onClose: () => void;
}

function ProveKey({ privateKey, onClose }: StepProps & { privateKey: Hex }): ReactNode {
  const toast = useToast();
  const [typed, setTyped] = useState('');
  const [wrong, setWrong] = useState(false);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const isRight = typed.trim().toLowerCase() === privateKey.slice(-PROOF_LENGTH);
    setWrong(!isRight);
    if (!isRight) return;
    keep('backedUp', true);
    toast(t('wallet.backup.done'));
    onClose();
  };
  return (
    <form className="stack" onSubmit={submit} noValidate>
      <p>{t('wallet.backup.keep_safe')}</p>
      <CopyField data-name="Private key" label={t('wallet.private_key')} value={privateKey} whole />
      <TextField
        label={t('wallet.backup.proof', { count: PROOF_LENGTH })}
        hint={t('wallet.backup.proof_hint')}
        autoComplete="off"
        autoCapitalize="off"
        spellCheck={false}
        value={typed}
        error={wrong ? t('wallet.backup.problem.proof') : null}
        onChange={(event) => setTyped(event.target.value)}
      />
      <Button type="submit" kind="primary" large>
        {t('wallet.backup.proof_button')}
      </Button>
      <Button kind="quiet" onClick={onClose}>
        {t('wallet.not_now')}
      </Button>
    </form>
  );
}

/** Shows the key to its owner, who then proves that it is stored elsewhere. */
export function BackupSheet({ onClose }: StepProps): ReactNode {
  const { vault } = useHere();
  const [key, setKey] = useState<Hex | null>(null);
  return (
    <Dialog title={t('wallet.backup.heading')} onClose={onClose}>
      {key === null ? (
        <AskSecrets
          vault={vault}
          about={t('wallet.backup.about')}
          action={t('wallet.backup.show_button')}
          onOpened={({ privateKey }) => setKey(privateKey)}
          onClose={onClose}
        />
      ) : (
        <ProveKey privateKey={key} onClose={onClose} />
      )}
    </Dialog>
  );
}
