import type { ReactNode } from 'react';
import type { ListAuditLogResponse } from '../../data/types/dashboard.ts';
import { auditColumns } from '../../desk/audit-columns.tsx';
import { FilterBar, FilterText, useFilters } from '../../desk/filters.tsx';
import { LongList } from '../../desk/long-list.tsx';
import { Page } from '../../ui/shell.tsx';
import type { Column } from '../../ui/table.tsx';
import { t } from '../../ui/text/t.ts';
import { ObjectLink } from '../payments/object-link.tsx';
import { RoleNeeded } from '../sessions/role-needed.tsx';
import { useMerchant, usePages } from '../use-merchant.ts';

type Entry = ListAuditLogResponse['data'][number];

const columns = (): readonly Column<Entry>[] =>
  auditColumns({
    withoutMode: t('dashboard.audit_log.account'),
    objectLink: (id) => <ObjectLink id={id} />,
  });

/**
 * Shows the audit log. Its entries form a hash chain, so that changed or removed entries are
 * detectable.
 */
export function AuditLog(): ReactNode {
  const filters = useFilters();
  const { may } = useMerchant();
  const pages = usePages('GET /accounts/{account}/audit_log', {
    query: { object: filters.get('object') },
  });
  if (!may('admin')) return <RoleNeeded title={t('dashboard.page.audit_log')} needs="admin" />;
  return (
    <Page title={t('dashboard.page.audit_log')}>
      <FilterBar filters={filters}>
        <FilterText
          filters={filters}
          name="object"
          label={t('dashboard.field.object')}
          placeholder="key_…"
          translate="no"
        />
      </FilterBar>
      <LongList
        label={t('dashboard.page.audit_log')}
        pages={pages}
        columns={columns()}
        keyOf={({ sequence }) => String(sequence)}
        filters={filters}
        empty={null}
      />
    </Page>
  );
}
