import { type ReactNode, useState } from 'react';
import type { Wallet } from '../../data/payer-api.ts';
import { Button } from '../../ui/button.tsx';
import { t } from '../../ui/text/t.ts';
import { PaymentMoment, PaySheet } from './lazy-pages.ts';

/** Opens the ways to pay. @param wallet `null` if the wallet can only pay offline. */
export function PayButton({ wallet }: { readonly wallet: Wallet | null }): ReactNode {
  const [isOpen, setIsOpen] = useState(false);
  const open = () => {
    setIsOpen(true);
    // So that the result appears without a delay.
    void PaymentMoment.load().catch(() => {});
  };
  return (
    <>
      <Button data-name="Pay" kind="primary" large wide onClick={open}>
        {t('wallet.pay.button')}
      </Button>
      {isOpen ? <PaySheet wallet={wallet} onClose={() => setIsOpen(false)} /> : null}
    </>
  );
}
