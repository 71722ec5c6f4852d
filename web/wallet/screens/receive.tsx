import type { ReactNode } from 'react';
import { chainName } from '../../data/chain-name.ts';
import { Button } from '../../ui/button.tsx';
import { CopyField } from '../../ui/copy-field.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Qr } from '../../ui/qr.tsx';
import { t } from '../../ui/text/t.ts';
import { useHere } from '../wallet-context.tsx';
import { kept } from '../wallet-storage.ts';

export function ReceiveSheet({ onClose }: { readonly onClose: () => void }): ReactNode {
  const { vault, network } = useHere();
  const chainId = kept('chains')[network]?.chainId;
  return (
    <Dialog title={t('wallet.receive.heading')} onClose={onClose}>
      <Qr value={vault.address} label={t('wallet.receive.picture')} />
      <CopyField label={t('wallet.address')} value={vault.address} />
      {chainId === undefined ? null : (
        <p>
          <strong>{t('wallet.receive.only', { network: chainName(chainId) })}</strong>
        </p>
      )}
      <p className="soft small">
        {network === 'testnet' ? t('wallet.receive.test_money') : t('wallet.receive.network')}
      </p>
      <Button onClick={onClose}>{t('wallet.done')}</Button>
    </Dialog>
  );
}
