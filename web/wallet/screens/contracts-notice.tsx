import type { ReactNode } from 'react';
import { Notice } from '../../ui/notice.tsx';
import { t } from '../../ui/text/t.ts';
import { type Network, useKept } from '../wallet-storage.ts';
import { PageLink } from './frame.tsx';

/** Shows on every page that the service names other contracts than the pinned ones. */
export function ContractsNotice({ network }: { readonly network: Network | null }): ReactNode {
  const others = useKept('otherContracts');
  // Before the first sign-in no network is chosen, so a change on any network counts.
  const isOther = network === null ? Object.keys(others).length > 0 : network in others;
  if (!isOther) return null;
  return (
    <Notice tone="bad" role="alert">
      {t('wallet.contracts_notice.text')}{' '}
      <PageLink path={CONTRACTS}>{t('wallet.contracts_notice.link')}</PageLink>
    </Notice>
  );
}

/**
 * Path of the page that compares the contracts that the service reports with those pinned in this
 * wallet.
 */
export const CONTRACTS = 'wallet/contracts';
