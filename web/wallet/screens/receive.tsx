import type { ReactNode } from 'react';
import { Button } from '../../ui/button.tsx';
import { CopyField } from '../../ui/copy-field.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Qr } from '../../ui/qr.tsx';
import { useHere } from '../here.tsx';

/** The wallet's address, for somebody who sends USDC to it. */
export function ReceiveSheet({ onClose }: { readonly onClose: () => void }): ReactNode {
  const { vault, network } = useHere();
  return (
    <Dialog title="Receive USDC" onClose={onClose}>
      <Qr value={vault.address} label="The address of this wallet" />
      <CopyField label="Wallet address" value={vault.address} />
      <p className="soft small">
        {network === 'testnet'
          ? 'Test money only: anything sent here from another network is lost.'
          : 'USDC on this network only: anything sent from another network is lost.'}
      </p>
      <Button onClick={onClose}>Done</Button>
    </Dialog>
  );
}
