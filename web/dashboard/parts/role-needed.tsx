import type { ReactNode } from 'react';
import { EmptyState } from '../../ui/empty-state.tsx';
import { Page } from '../../ui/shell.tsx';
import { type Role, useMerchant } from '../merchant.ts';

export interface RoleNeededProps {
  readonly title: string;
  readonly needs: Role;
}

/** What one may not see is explained, not hidden. */
export function RoleNeeded({ title, needs }: RoleNeededProps): ReactNode {
  const { account } = useMerchant();
  return (
    <Page title={title}>
      <EmptyState title={`This needs the role ${needs}`}>
        Your role at <bdi>{account.name}</bdi> is {account.role}. An owner can change it on the Team
        page.
      </EmptyState>
    </Page>
  );
}
