import type { ReactNode } from 'react';
import { Page } from '../../ui/shell.tsx';
import { t } from '../../ui/text/t.ts';
import { Organization } from '../organizations/organization.tsx';

/** The places where the account sells, and the organization that has them. */
export function LocationsPage(): ReactNode {
  return (
    <Page title={t('dashboard.page.locations')}>
      <Organization />
    </Page>
  );
}
