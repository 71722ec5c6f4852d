import { type FormEvent, type ReactNode, useEffect, useRef, useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/field.tsx';
import { t } from '../../ui/text/t.ts';
import { useToast } from '../../ui/toast.tsx';
import type { Secrets } from '../key-vault.ts';
import { wordsOf } from '../recovery-phrase.ts';
import { useHere } from '../wallet-context.tsx';
import { keep } from '../wallet-storage.ts';
import { AskSecrets } from './ask-secrets.tsx';
import './recovery-phrase.css';

/** Number of words that the user types, as proof that the phrase is written down. */
const ASKED = 3;

/** Chooses different words of the phrase, in order. */
function chooseWords(count: number): readonly number[] {
  const left = Array.from({ length: count }, (_, at) => at);
  const chosen = Array.from({ length: ASKED }, () => {
    const [random = 0] = crypto.getRandomValues(new Uint32Array(1));
    return left.splice(random % left.length, 1)[0] ?? 0;
  });
  return chosen.sort((a, b) => a - b);
}

/**
 * True until the page loses the focus, so that the words are not left on a screen, in a recording,
 * or in the list of open apps. The print dialog also takes the focus.
 */
function useUncovered() {
  const [isShown, setIsShown] = useState(true);
  const isPrinting = useRef(false);
  useEffect(() => {
    const hide = () => {
      if (!isPrinting.current) setIsShown(false);
    };
    const hideInBackground = () => document.hidden && hide();
    const printed = () => {
      isPrinting.current = false;
    };
    window.addEventListener('blur', hide);
    window.addEventListener('pagehide', hide);
    window.addEventListener('afterprint', printed);
    document.addEventListener('visibilitychange', hideInBackground);
    return () => {
      window.removeEventListener('blur', hide);
      window.removeEventListener('pagehide', hide);
      window.removeEventListener('afterprint', printed);
      document.removeEventListener('visibilitychange', hideInBackground);
    };
  }, []);
  const print = () => {
    isPrinting.current = true;
    window.print();
  };
  return { isShown, show: () => setIsShown(true), print };
}

interface WordsProps {
  readonly words: readonly string[];
  readonly onWritten: () => void;
}

function Words({ words, onWritten }: WordsProps): ReactNode {
  const { vault } = useHere();
  const { isShown, show, print } = useUncovered();
  if (!isShown) {
    return (
      <>
        <p role="status">{t('wallet.phrase.hidden')}</p>
        <Button kind="primary" large onClick={show}>
          {t('wallet.phrase.show_again_button')}
        </Button>
      </>
    );
  }
  return (
    <div className="stack phrase-sheet">
      <p>{t('wallet.phrase.keep_safe')}</p>
      {/* Translation would change the words, and would send them to the translator. */}
      <ol className="phrase" translate="no" onCopy={(event) => event.preventDefault()}>
        {[...words.entries()].map(([at, word]) => (
          <li key={at}>{word}</li>
        ))}
      </ol>
      <p className="phrase-printed">{t('wallet.phrase.printed', { address: vault.address })}</p>
      <Button kind="primary" large onClick={onWritten}>
        {t('wallet.phrase.written_button')}
      </Button>
      <Button onClick={print}>{t('wallet.phrase.print_button')}</Button>
    </div>
  );
}

interface CheckProps {
  readonly words: readonly string[];
  readonly onBack: () => void;
  readonly onDone: () => void;
}

function CheckWords({ words, onBack, onDone }: CheckProps): ReactNode {
  const [asked] = useState(() => chooseWords(words.length));
  const [typed, setTyped] = useState<Readonly<Record<number, string>>>({});
  const [wrong, setWrong] = useState<readonly number[]>([]);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const differs = asked.filter((at) => typed[at]?.trim().toLowerCase() !== words[at]);
    setWrong(differs);
    if (differs.length === 0) onDone();
  };
  return (
    <form className="stack" onSubmit={submit} noValidate>
      <p>{t('wallet.phrase.check_text')}</p>
      {asked.map((at) => (
        <TextField
          key={at}
          label={t('wallet.phrase.word', { number: at + 1 })}
          autoComplete="off"
          autoCapitalize="off"
          autoCorrect="off"
          spellCheck={false}
          dir="ltr"
          value={typed[at] ?? ''}
          error={wrong.includes(at) ? t('wallet.phrase.problem.word', { number: at + 1 }) : null}
          onChange={(event) => setTyped({ ...typed, [at]: event.target.value })}
        />
      ))}
      <Button type="submit" kind="primary" large>
        {t('wallet.phrase.check_button')}
      </Button>
      <Button kind="quiet" onClick={onBack}>
        {t('wallet.phrase.back_button')}
      </Button>
    </form>
  );
}

/** Shows the recovery phrase to its owner, who then proves that it is written down. */
export function RecoveryPhraseSheet({ onClose }: { readonly onClose: () => void }): ReactNode {
  const { vault } = useHere();
  const toast = useToast();
  const [words, setWords] = useState<readonly string[] | null>(null);
  const [checks, setChecks] = useState(false);
  const open = ({ entropy }: Secrets) => setWords(entropy === null ? [] : wordsOf(entropy));
  const done = () => {
    keep('backedUp', true);
    toast(t('wallet.backup.done'));
    onClose();
  };
  return (
    <Dialog title={t('wallet.phrase.heading')} onClose={onClose}>
      {words === null ? (
        <AskSecrets
          vault={vault}
          about={t('wallet.phrase.about')}
          data-name="Recovery phrase"
          action={t('wallet.phrase.show_button')}
          onOpened={open}
          onClose={onClose}
        />
      ) : checks ? (
        <CheckWords words={words} onBack={() => setChecks(false)} onDone={done} />
      ) : (
        <Words words={words} onWritten={() => setChecks(true)} />
      )}
    </Dialog>
  );
}
