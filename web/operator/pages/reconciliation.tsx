import type { ReactNode } from 'react';
import { useFilters } from '../../desk/filters.tsx';
import { LoadTogether } from '../../desk/load-together.tsx';
import { Loaded } from '../../desk/loaded.tsx';
import { LongList } from '../../desk/long-list.tsx';
import { Notice } from '../../ui/notice.tsx';
import { Page } from '../../ui/shell.tsx';
import { Status } from '../../ui/status.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import {
  type Difference,
  networkName,
  type ReadUpTo,
  useDifferences,
  useReconciled,
} from '../ledger-differences.ts';
import { MeasuredAt } from '../parts/measured-at.tsx';
import { Details } from '../parts/raw-fields.tsx';
import { ReasonButton } from '../parts/reason-button.tsx';
import { Recoveries } from '../parts/recovery.tsx';
import { useOperator } from '../use-operator.ts';

const CURSORS: readonly Column<ReadUpTo>[] = [
  { name: 'Network', cell: ({ livemode }) => networkName(livemode) },
  { name: 'Next block', number: true, cell: ({ next_block: next }) => next },
  { name: 'Measured', cell: ({ updated }) => <Time at={updated} shape="exact" /> },
];

const DIFFERENCES: readonly Column<Difference>[] = [
  { name: 'Difference', cell: ({ kind }) => kind.replaceAll('_', ' ') },
  { name: 'Network', cell: ({ livemode }) => networkName(livemode) },
  { name: 'About', cell: ({ subject }) => <span className="id">{subject}</span> },
  { name: 'First seen', cell: ({ first_seen: at }) => <Time at={at} /> },
  { name: 'Last seen', cell: ({ last_seen: at }) => <Time at={at} /> },
  { name: 'Details', cell: ({ details }) => <Details of={details} /> },
  { name: 'Change', cell: (difference) => <Accept difference={difference} /> },
];

/**
 * Lists differences between ledger and chain. An empty table shows the time of the last comparison.
 */
export function Reconciliation(): ReactNode {
  const filters = useFilters();
  const query = useReconciled();
  const pages = useDifferences();
  return (
    <Page title="Reconciliation">
      <LoadTogether>
        <Loaded query={query}>
          {({ cursors, data: differences }) => (
            <>
              <Verdict cursors={cursors} differences={differences} />
              {cursors.length === 0 ? null : (
                <Table
                  label="Progress by network"
                  columns={CURSORS}
                  rows={cursors}
                  keyOf={({ livemode }) => networkName(livemode)}
                />
              )}
            </>
          )}
        </Loaded>
        <MeasuredAt query={query} />
        <Recoveries />
        <LongList
          label="Differences"
          pages={pages}
          columns={DIFFERENCES}
          keyOf={({ id }) => id}
          filters={filters}
          empty={null}
        />
      </LoadTogether>
    </Page>
  );
}

interface VerdictProps {
  readonly cursors: readonly ReadUpTo[];
  readonly differences: readonly Difference[];
}

function Verdict({ cursors, differences }: VerdictProps): ReactNode {
  if (differences.length > 0) {
    return (
      <Notice tone="bad">
        <strong>Ledger and chain do not agree</strong>
        <p>Nothing is corrected automatically. Find the cause of each, then fix it.</p>
      </Notice>
    );
  }
  if (cursors.length === 0) {
    return (
      <Notice tone="warn">
        <strong>Nothing has been compared yet</strong>
        <p>A worker reads each chain and compares it. It has not finished yet.</p>
      </Notice>
    );
  }
  return (
    <Notice tone="good">
      <strong>No difference</strong>
      <p>Ledger and chain agree up to the blocks below.</p>
    </Notice>
  );
}

function Accept({ difference }: { readonly difference: Difference }): ReactNode {
  const { call, mayChange } = useOperator();
  const { id, accepted_at: accepted } = difference;
  if (!mayChange && accepted === null) return null;
  if (accepted !== null) return <Status tone="plain">Accepted</Status>;
  return (
    <ReasonButton
      words={`Accept ${id}`}
      title="Accept this difference?"
      send="Accept"
      hint="What caused it. It is kept in the audit log."
      request={(reason) =>
        call('POST /reconciliation/differences/{id}/accept', { path: { id }, body: { reason } })
      }
      said="Accepted."
    >
      <p>It no longer needs action unless it changes. Nothing is booked.</p>
    </ReasonButton>
  );
}
