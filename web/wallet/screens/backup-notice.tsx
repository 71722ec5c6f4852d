import type { ReactNode } from 'react';
import { Notice } from '../../ui/notice.tsx';
import { t } from '../../ui/text/t.ts';
import { useHere } from '../wallet-context.tsx';
import { rowsOf, usePayments, useWallet } from '../wallet-reads.ts';
import { useKept } from '../wallet-storage.ts';
import { BackupButton } from './backup-button.tsx';

/**
 * Asks for a backup after the first payment, or as soon as the wallet holds real money, until the
 * user has made one.
 */
export function BackupNotice(): ReactNode {
  const { network } = useHere();
  const backedUp = useKept('backedUp');
  const hasPaid = (rowsOf(usePayments()) ?? []).length > 0;
  const balance = BigInt(useWallet().data?.balance ?? 0);
  const hasMoney = network === 'mainnet' && balance > 0n;
  if (backedUp || !(hasPaid || hasMoney)) return null;
  return (
    <Notice tone="warn">
      <strong>{t('wallet.backup_notice.heading')}</strong>
      <p>{t('wallet.backup_notice.text')}</p>
      <div className="row">
        <BackupButton isDone={false} />
      </div>
    </Notice>
  );
}
