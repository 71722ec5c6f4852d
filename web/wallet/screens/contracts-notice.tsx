import type { ReactNode } from 'react';
import { Notice } from '../../ui/notice.tsx';
import { type Network, useKept } from '../kept.ts';
import { PageLink } from './frame.tsx';

/** Stands on every page while the service names other contracts than this wallet knows. */
export function ContractsNotice({ network }: { readonly network: Network | null }): ReactNode {
  const others = useKept('otherContracts');
  // Before the first sign-in no network is chosen yet, and the first one was refused.
  const isOther = network === null ? Object.keys(others).length > 0 : network in others;
  if (!isOther) return null;
  return (
    <Notice tone="bad" role="alert">
      The service now names different contracts or higher fees than this wallet knows. The wallet
      signs nothing until you have reviewed them.{' '}
      <PageLink path={CONTRACTS}>Compare contracts</PageLink>
    </Notice>
  );
}

/** The page that shows them. */
export const CONTRACTS = 'wallet/contracts';
