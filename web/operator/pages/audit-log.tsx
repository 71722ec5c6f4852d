import type { ReactNode } from 'react';
import type { ListNetworkAuditLogResponse } from '../../data/types/operator.ts';
import { auditColumns } from '../../desk/audit-columns.tsx';
import { FilterBar, FilterText, useFilters } from '../../desk/filters.tsx';
import { LongList } from '../../desk/long-list.tsx';
import { Page } from '../../ui/shell.tsx';
import type { Column } from '../../ui/table.tsx';
import { VerifyLog } from '../parts/verify-log.tsx';
import { usePages } from '../use-operator.ts';

type Entry = ListNetworkAuditLogResponse['data'][number];

const COLUMNS: readonly Column<Entry>[] = auditColumns({
  withoutMode: 'Both',
  objectLink: (id) => <span className="id">{id}</span>,
});

export function AuditLog(): ReactNode {
  const filters = useFilters();
  const filter = { object: filters.get('object'), account: filters.get('account') };
  const pages = usePages('GET /audit_log', { query: filter }, { cursor: 'cursor' });
  return (
    <Page title="Audit log">
      <FilterBar filters={filters}>
        <FilterText filters={filters} name="account" label="Account" placeholder="acct_…" />
        <FilterText filters={filters} name="object" label="Object" placeholder="pyr_…" />
      </FilterBar>
      <VerifyLog key={filter.account} account={filter.account} />
      <LongList
        label="Audit log"
        pages={pages}
        columns={COLUMNS}
        keyOf={({ sequence }) => String(sequence)}
        filters={filters}
        empty={{
          title: 'No changes yet',
          text: 'Each change by staff or by a command is listed here, chained to the previous one.',
        }}
      />
    </Page>
  );
}
