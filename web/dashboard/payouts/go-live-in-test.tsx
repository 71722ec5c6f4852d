import type { ReactNode } from 'react';
import { ActionButton } from '../../desk/action-button.tsx';
import { t } from '../../ui/text/t.ts';
import { useMerchant } from '../use-merchant.ts';

/**
 * Creates the wallet, its consent and a first till with one click. Live mode asks for a real wallet
 * instead.
 */
export function GoLiveInTest({ children = null }: { readonly children?: ReactNode }): ReactNode {
  const { call } = useMerchant();
  return (
    <ActionButton
      {...(children === null ? { 'data-name': 'Go live' } : {})}
      kind="primary"
      request={() => call('POST /accounts/{account}/{mode}/go_live/test_wallet', {})}
    >
      {children ?? t('dashboard.button.go_live')}
    </ActionButton>
  );
}
