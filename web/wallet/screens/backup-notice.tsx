import { type ReactNode, useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { Notice } from '../../ui/notice.tsx';
import { partOf } from '../../ui/part.ts';
import { useKept } from '../kept.ts';
import { rowsOf, usePayments, useWallet } from '../queries.ts';

const BackupSheet = partOf(async () => (await import('./backup.tsx')).BackupSheet);

/** As soon as there is something to lose: it stays until it is done. */
export function BackupNotice(): ReactNode {
  const backedUp = useKept('backedUp');
  const payments = rowsOf(usePayments());
  const hasMoney = BigInt(useWallet().data?.balance ?? 0) > 0n;
  const [open, setOpen] = useState(false);
  if (backedUp || (!hasMoney && (payments === null || payments.length === 0))) return null;
  return (
    <Notice tone="warn">
      <strong>This wallet exists only in this browser</strong>
      <p>
        Back it up so you don’t lose it. Safari deletes a site’s data after seven days without a
        visit.
      </p>
      <div className="row">
        <Button kind="primary" onClick={() => setOpen(true)}>
          Back up wallet
        </Button>
      </div>
      {open ? <BackupSheet onClose={() => setOpen(false)} /> : null}
    </Notice>
  );
}
