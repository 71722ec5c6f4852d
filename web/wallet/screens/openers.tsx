import { type FormEvent, type ReactNode, useEffect, useState } from 'react';
import { signalUnknownPasskey } from '../../data/signal-unknown-passkey.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { t } from '../../ui/text/t.ts';
import { useToast } from '../../ui/toast.tsx';
import {
  addOpener,
  type OpenerKind,
  opensBy,
  passkeyOf,
  removeOpener,
  type Secrets,
} from '../key-vault.ts';
import { canUsePasskeys } from '../passkey-secret.ts';
import { problemOf } from '../problem-words.ts';
import { useHere } from '../wallet-context.tsx';
import { keep } from '../wallet-storage.ts';
import { AskSecrets } from './ask-secrets.tsx';
import { PasswordFields, usePasswordFields } from './password-fields.tsx';
import { ProblemNotice } from './problem-notice.tsx';

interface SheetProps {
  readonly by: OpenerKind;
  readonly onClose: () => void;
}

interface NewPasswordProps {
  readonly secrets: Secrets;
  readonly onDone: () => void;
}

function NewPassword({ secrets, onDone }: NewPasswordProps): ReactNode {
  const { vault } = useHere();
  const fields = usePasswordFields();
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const password = fields.check();
    if (busy || password === null) return;
    setBusy(true);
    try {
      keep('vault', await addOpener(vault, secrets, { by: 'password', password }));
      onDone();
    } catch (error) {
      setProblem(problemOf(error));
    }
    setBusy(false);
  };
  return (
    <form className="stack" onSubmit={submit} noValidate>
      <PasswordFields fields={fields} />
      <ProblemNotice problem={problem} />
      <Button type="submit" kind="primary" large busy={busy}>
        {t('wallet.openers.add_button.password')}
      </Button>
    </form>
  );
}

/** Adds a passkey beside the password, or the other way round. The present opener must agree. */
function AddSheet({ by, onClose }: SheetProps): ReactNode {
  const { vault } = useHere();
  const toast = useToast();
  const [secrets, setSecrets] = useState<Secrets | null>(null);
  const done = () => {
    toast(t('wallet.openers.added'));
    onClose();
  };
  const open = async (opened: Secrets) => {
    if (by === 'password') return setSecrets(opened);
    keep('vault', await addOpener(vault, opened, { by }));
    done();
  };
  const action = t(`wallet.openers.add_button.${by}`);
  return (
    <Dialog title={action} onClose={onClose}>
      {secrets === null ? (
        <AskSecrets
          vault={vault}
          about={t(`wallet.openers.add_text.${by}`)}
          action={action}
          onOpened={open}
          onClose={onClose}
        />
      ) : (
        <NewPassword secrets={secrets} onDone={done} />
      )}
    </Dialog>
  );
}

/** Removes one opener. The other one must work, because it will be the only one. */
function RemoveSheet({ by, onClose }: SheetProps): ReactNode {
  const { vault } = useHere();
  const toast = useToast();
  const rest = removeOpener(vault, by);
  const action = t(`wallet.openers.remove_button.${by}`);
  const remove = async () => {
    const passkey = by === 'passkey' ? passkeyOf(vault) : null;
    keep('vault', rest);
    if (passkey !== null) {
      keep('passkeyEach', false);
      await signalUnknownPasskey(passkey);
    }
    toast(t('wallet.openers.removed'));
    onClose();
  };
  return (
    <Dialog title={action} onClose={onClose}>
      <AskSecrets
        vault={rest}
        about={t(`wallet.openers.remove_text.${by}`)}
        action={action}
        onOpened={remove}
        onClose={onClose}
      />
    </Dialog>
  );
}

const KINDS: readonly OpenerKind[] = ['passkey', 'password'];

/** What opens the wallet: a passkey, a password, or either of both. */
export function Openers(): ReactNode {
  const { vault } = useHere();
  const [hasPasskeys, setHasPasskeys] = useState(false);
  const [open, setOpen] = useState<OpenerKind | null>(null);
  useEffect(() => {
    void canUsePasskeys().then(setHasPasskeys);
  }, []);
  const has = KINDS.filter((by) => opensBy(vault, by));
  const offered = KINDS.filter((by) => has.includes(by) || by === 'password' || hasPasskeys);
  const shown = has.length === 1 ? offered.filter((by) => !has.includes(by)) : has;
  const Sheet = has.length === 1 ? AddSheet : RemoveSheet;
  return (
    <>
      {shown.map((by) => (
        <Button key={by} onClick={() => setOpen(by)}>
          {has.length === 1
            ? t(`wallet.openers.add_button.${by}`)
            : t(`wallet.openers.remove_button.${by}`)}
        </Button>
      ))}
      {open === null ? null : <Sheet by={open} onClose={() => setOpen(null)} />}
    </>
  );
}
