import type { ReactNode } from 'react';
import { useDesk } from '../../desk/desk-context.ts';
import { Sheet } from '../../desk/single-task-page.tsx';
import { Button } from '../../ui/button.tsx';
import { t } from '../../ui/text/t.ts';
import type { MerchantPlace } from '../use-merchant.ts';
import { AccountChoice } from './account-choice.tsx';

/** Shown to a cashier, who works at tills and may not read anything in the dashboard. */
export function CashierPlace(scope: Pick<MerchantPlace, 'account' | 'setAccount'>): ReactNode {
  const { signOut } = useDesk();
  return (
    <Sheet title={t('dashboard.cashier.heading')}>
      <p>{t('dashboard.cashier.text', { name: scope.account.name })}</p>
      <AccountChoice {...scope} />
      <Button data-name="Sign out" kind="quiet" onClick={() => void signOut()}>
        {t('dashboard.sign_out')}
      </Button>
    </Sheet>
  );
}
