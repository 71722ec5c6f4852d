import { type ReactNode, useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { partOf } from '../../ui/lazy-part.ts';
import { t } from '../../ui/text/t.ts';
import { useHere } from '../wallet-context.tsx';

const BackupSheet = partOf(async () => (await import('./backup.tsx')).BackupSheet);
const RecoveryPhraseSheet = partOf(
  async () => (await import('./recovery-phrase-sheet.tsx')).RecoveryPhraseSheet,
);

/** Shows the recovery phrase, or the key of a wallet that has none. */
export function BackupButton({ isDone }: { readonly isDone: boolean }): ReactNode {
  const { vault } = useHere();
  const [isOpen, setIsOpen] = useState(false);
  const hasPhrase = vault.hasPhrase === true;
  const Sheet = hasPhrase ? RecoveryPhraseSheet : BackupSheet;
  return (
    <>
      <Button
        data-name={hasPhrase ? 'Recovery phrase' : undefined}
        kind={isDone ? 'plain' : 'primary'}
        onClick={() => setIsOpen(true)}
      >
        {hasPhrase ? t('wallet.phrase.button') : t('wallet.backup.open_button')}
      </Button>
      {isOpen ? <Sheet onClose={() => setIsOpen(false)} /> : null}
    </>
  );
}
