import type { ReactNode } from 'react';
import { useLocation } from 'wouter';
import { Button } from '../../ui/button.tsx';
import { t } from '../../ui/text/t.ts';

/** Opens the page on which a payment is signed without a connection. */
export function PayOfflineButton(): ReactNode {
  const [, navigate] = useLocation();
  return (
    <Button data-name="Pay offline" onClick={() => navigate('/wallet/pay-offline')}>
      {t('wallet.pay_offline.button')}
    </Button>
  );
}
