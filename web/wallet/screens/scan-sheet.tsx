import { type ReactNode, useState } from 'react';
import { ScanDialog } from '../../terminal/screens/scan.tsx';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Notice } from '../../ui/notice.tsx';
import { t } from '../../ui/text/t.ts';
import { readScannedCode } from '../read-scanned-code.ts';
import { useHere } from '../wallet-context.tsx';
import { kept } from '../wallet-storage.ts';

export interface ScanSheetProps {
  readonly onAddress: (address: string) => void;
  readonly onClose: () => void;
}

/** Reads an address, to send to it, or a pay link, which it opens. */
export function ScanSheet({ onAddress, onClose }: ScanSheetProps): ReactNode {
  const { network } = useHere();
  const [problem, setProblem] = useState<string | null>(null);
  const chainId = kept('chains')[network]?.chainId;
  const take = (text: string) => {
    const code = readScannedCode(text, chainId);
    if (code === null) setProblem(t('wallet.scan.problem.other_code'));
    else if (code.is === 'other_chain') setProblem(t('wallet.scan.problem.other_chain'));
    else if (code.is === 'address') onAddress(code.address);
    else location.assign(code.path);
  };
  if (problem === null) {
    return (
      <ScanDialog
        title={t('wallet.scan.heading')}
        isOwn={(text) => readScannedCode(text, chainId) !== null}
        onCode={take}
        onClose={onClose}
      />
    );
  }
  return (
    <Dialog title={t('wallet.scan.heading')} onClose={onClose}>
      <Notice tone="warn" role="alert">
        {problem}
      </Notice>
      <Button kind="primary" onClick={() => setProblem(null)}>
        {t('wallet.scan.again_button')}
      </Button>
    </Dialog>
  );
}
