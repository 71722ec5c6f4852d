import { type ReactNode, useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { partOf } from '../../ui/lazy-part.ts';
import { Notice } from '../../ui/notice.tsx';
import { t } from '../../ui/text/t.ts';
import { rowsOf, usePayments, useWallet } from '../wallet-reads.ts';
import { useKept } from '../wallet-storage.ts';

const BackupSheet = partOf(async () => (await import('./backup.tsx')).BackupSheet);

/** Asks for a backup once the wallet holds money, until the user has made one. */
export function BackupNotice(): ReactNode {
  const backedUp = useKept('backedUp');
  const payments = rowsOf(usePayments());
  const hasMoney = BigInt(useWallet().data?.balance ?? 0) > 0n;
  const [open, setOpen] = useState(false);
  if (backedUp || (!hasMoney && (payments === null || payments.length === 0))) return null;
  return (
    <Notice tone="warn">
      <strong>{t('wallet.backup_notice.heading')}</strong>
      <p>{t('wallet.backup_notice.text')}</p>
      <div className="row">
        <Button kind="primary" onClick={() => setOpen(true)}>
          {t('wallet.backup.open_button')}
        </Button>
      </div>
      {open ? <BackupSheet onClose={() => setOpen(false)} /> : null}
    </Notice>
  );
}
