import { type ReactNode, useState } from 'react';
import type { Hex } from '../../data/bytes.ts';
import { askToLast } from '../../data/persistent-storage.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/field.tsx';
import { LanguageChoice } from '../../ui/language-choice.tsx';
import { Notice } from '../../ui/notice.tsx';
import { t } from '../../ui/text/t.ts';
import { type Opener, sealKey } from '../key-vault.ts';
import { holdKey } from '../keyring.ts';
import { heldWallet } from '../last-wallet-cookie.ts';
import { problemOf } from '../problem-words.ts';
import { wayBack } from '../return-to-payment.ts';
import { signIn } from '../sign-in.ts';
import { keep } from '../wallet-storage.ts';
import { NewOpener } from './unlock-method.tsx';

/** Encrypts the key and signs in. Stores the wallet even if the service is unreachable. */
async function keepWallet(privateKey: Hex, opener: Opener, backedUp: boolean): Promise<void> {
  const { accountOf } = await import('../private-key-account.ts');
  const account = accountOf(privateKey);
  const vault = await sealKey({ privateKey, address: account.address, opener });
  holdKey(privateKey, account.address);
  keep('backedUp', backedUp);
  void askToLast();
  try {
    await signIn(account, null);
  } finally {
    // Must come last, because the wallet then replaces this screen.
    keep('vault', vault);
  }
}

type Way = 'create' | 'import';

function NewWallet({ way, onClose }: { readonly way: Way; onClose: () => void }): ReactNode {
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const [typed, setTyped] = useState('');
  const [keyProblem, setKeyProblem] = useState<string | null>(null);
  const go = async (opener: Opener) => {
    setProblem(null);
    setKeyProblem(null);
    setBusy(true);
    try {
      const { newPrivateKey, readPrivateKey } = await import('../private-key-account.ts');
      const key = way === 'create' ? newPrivateKey() : readPrivateKey(typed);
      if (key === null) setKeyProblem(t('wallet.problem.private_key'));
      else await keepWallet(key, opener, way === 'import');
    } catch (error) {
      setProblem(problemOf(error));
    }
    setBusy(false);
  };
  const isImport = way === 'import';
  return (
    <Dialog
      title={isImport ? t('wallet.import.heading') : t('wallet.create.heading')}
      onClose={onClose}
    >
      <p className="soft">{isImport ? t('wallet.import.text') : t('wallet.create.text')}</p>
      <NewOpener
        data-name={isImport ? 'Import wallet' : 'Create wallet'}
        action={isImport ? t('wallet.import.button') : t('wallet.create.button')}
        busy={busy}
        problem={problem}
        onChosen={go}
      >
        {isImport ? (
          <TextField
            data-name="Private key"
            label={t('wallet.private_key')}
            type="password"
            autoComplete="off"
            spellCheck={false}
            value={typed}
            error={keyProblem}
            onChange={(event) => setTyped(event.target.value)}
          />
        ) : null}
      </NewOpener>
      <Button kind="quiet" onClick={onClose}>
        {t('wallet.not_now')}
      </Button>
    </Dialog>
  );
}

/** Explains that the browser has deleted the wallet's data. */
function HeldBefore({ end }: { readonly end: string | null }): ReactNode {
  if (end === null) return null;
  return (
    <Notice tone="warn">
      <strong>{t('wallet.welcome.held.heading', { end })}</strong>
      <p>{t('wallet.welcome.held.text')}</p>
    </Notice>
  );
}

/** Shows the first screen in a browser without a wallet. */
export function Welcome(): ReactNode {
  // Reads the path before the wallet's own screens change the URL.
  useState(wayBack);
  const [way, setWay] = useState<Way | null>(null);
  const [held] = useState(heldWallet);
  return (
    <main className="sheet stack welcome">
      <title>{t('wallet.page')}</title>
      <img className="welcome-logo" src="icons/tapline.svg" alt="" />
      <h1>{t('wallet.welcome.heading')}</h1>
      <p className="soft">{t('wallet.welcome.text')}</p>
      <HeldBefore end={held} />
      <Button data-name="Create wallet" kind="primary" large wide onClick={() => setWay('create')}>
        {t('wallet.create.button')}
      </Button>
      <Button data-name="Import wallet" large wide onClick={() => setWay('import')}>
        {t('wallet.import.button')}
      </Button>
      <p className="soft small">{t('wallet.welcome.no_account')}</p>
      <LanguageChoice />
      {way === null ? null : <NewWallet way={way} onClose={() => setWay(null)} />}
    </main>
  );
}
