import type { ReactNode } from 'react';
import { EmptyState } from '../../ui/empty-state.tsx';
import { Page } from '../../ui/shell.tsx';
import { t } from '../../ui/text/t.ts';
import { type Role, useMerchant } from '../use-merchant.ts';

export interface RoleNeededProps {
  readonly title: string;
  readonly needs: Role;
}

/** Shown instead of the page: explains which role it needs. */
export function RoleNeeded({ title, needs }: RoleNeededProps): ReactNode {
  const { account } = useMerchant();
  return (
    <Page title={title}>
      <EmptyState title={t('dashboard.role_needed.heading', { role: needs })}>
        {t('dashboard.role_needed.text', { name: account.name, role: account.role })}
      </EmptyState>
    </Page>
  );
}
