import { type ReactNode, useState } from 'react';
import { askToLast } from '../../data/persistent-storage.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/field.tsx';
import { t } from '../../ui/text/t.ts';
import { type Opener, type Secrets, sealSecrets } from '../key-vault.ts';
import { holdKey } from '../keyring.ts';
import { problemOf } from '../problem-words.ts';
import type { ReadPhrase } from '../recovery-phrase.ts';
import { signIn } from '../sign-in.ts';
import { keep } from '../wallet-storage.ts';
import { NewOpener } from './unlock-method.tsx';

/** Encrypts the secrets and signs in. Stores the wallet even if the service is unreachable. */
async function keepWallet(secrets: Secrets, opener: Opener, backedUp: boolean): Promise<void> {
  const { accountOf } = await import('../private-key-account.ts');
  const account = accountOf(secrets.privateKey);
  const vault = await sealSecrets({ secrets, address: account.address, opener });
  holdKey(secrets.privateKey, account.address);
  keep('backedUp', backedUp);
  void askToLast();
  try {
    await signIn(account, null);
  } finally {
    // Must come last, because the wallet then replaces this screen.
    keep('vault', vault);
  }
}

export type Way = 'create' | 'import';

/** The two fields of an import, of which one is filled. */
interface Typed {
  readonly phrase: string;
  readonly key: string;
}

type Wrong = { readonly [field in keyof Typed]?: string };

function phraseProblem(read: Exclude<ReadPhrase, { is: 'phrase' }>): string {
  if (read.is === 'unknown_word') {
    return t('wallet.phrase.problem.unknown_word', { word: read.word, number: read.at });
  }
  if (read.is === 'wrong_count') return t('wallet.phrase.problem.count', { count: read.count });
  return t('wallet.phrase.problem.checksum');
}

/** Returns the secrets to keep, or the problem of a field. */
async function secretsFor(way: Way, typed: Typed): Promise<Secrets | Wrong> {
  const phrases = () => import('../recovery-phrase.ts');
  if (way === 'create') return (await phrases()).newSecrets();
  const [phrase, key] = [typed.phrase.trim(), typed.key.trim()];
  if (phrase !== '' && key !== '') return { key: t('wallet.import.problem.both') };
  if (phrase !== '') {
    const read = (await phrases()).readPhrase(phrase);
    return read.is === 'phrase' ? read.secrets : { phrase: phraseProblem(read) };
  }
  if (key === '') return { phrase: t('wallet.import.problem.neither') };
  const { readPrivateKey } = await import('../private-key-account.ts');
  const privateKey = readPrivateKey(key);
  if (privateKey === null) return { key: t('wallet.problem.private_key') };
  return { privateKey, entropy: null };
}

export interface NewWalletProps {
  readonly way: Way;
  readonly onClose: () => void;
}

/** Creates or imports a wallet. A new one gets a recovery phrase, which it shows later. */
export function NewWallet({ way, onClose }: NewWalletProps): ReactNode {
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const [typed, setTyped] = useState<Typed>({ phrase: '', key: '' });
  const [wrong, setWrong] = useState<Wrong>({});
  const go = async (opener: Opener) => {
    setProblem(null);
    setWrong({});
    setBusy(true);
    try {
      const secrets = await secretsFor(way, typed);
      if ('privateKey' in secrets) await keepWallet(secrets, opener, way === 'import');
      else setWrong(secrets);
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
        {isImport ? <ImportFields typed={typed} wrong={wrong} onTyped={setTyped} /> : null}
      </NewOpener>
      <Button kind="quiet" onClick={onClose}>
        {t('wallet.not_now')}
      </Button>
    </Dialog>
  );
}

interface ImportFieldsProps {
  readonly typed: Typed;
  readonly wrong: Wrong;
  readonly onTyped: (typed: Typed) => void;
}

function ImportFields({ typed, wrong, onTyped }: ImportFieldsProps): ReactNode {
  return (
    <>
      <TextField
        data-name="Recovery phrase"
        label={t('wallet.phrase.button')}
        hint={t('wallet.import.phrase_hint')}
        autoComplete="off"
        autoCapitalize="off"
        autoCorrect="off"
        spellCheck={false}
        dir="ltr"
        value={typed.phrase}
        error={wrong.phrase ?? null}
        onChange={(event) => onTyped({ ...typed, phrase: event.target.value })}
      />
      <TextField
        data-name="Private key"
        label={t('wallet.private_key')}
        hint={t('wallet.import.key_hint')}
        type="password"
        autoComplete="off"
        spellCheck={false}
        value={typed.key}
        error={wrong.key ?? null}
        onChange={(event) => onTyped({ ...typed, key: event.target.value })}
      />
    </>
  );
}
