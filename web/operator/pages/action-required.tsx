import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { LoadTogether } from '../../desk/load-together.tsx';
import { Loaded } from '../../desk/loaded.tsx';
import { EmptyDrawing } from '../../ui/empty-drawing.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { Page } from '../../ui/shell.tsx';
import { Status } from '../../ui/status.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { useReconciled } from '../ledger-differences.ts';
import { MeasuredAt } from '../parts/measured-at.tsx';
import { NetworkTable } from '../parts/network-table.tsx';
import { OtherCells } from '../parts/other-cells.tsx';
import { type Need, needsOf } from '../required-actions.ts';
import { useNetworks } from '../use-networks.ts';
import { useRead } from '../use-operator.ts';

const WATCH_MS = 10_000;
/** Polling interval. Long, because each refresh queries every other cell. */
const CELLS_MS = 30_000;

const COLUMNS: readonly Column<Need>[] = [
  {
    name: 'What',
    cell: ({ what, path }) => (
      <div className="said">
        <Link href={path}>{what}</Link>
      </div>
    ),
  },
  {
    name: 'When',
    cell: ({ tone }) => <Status tone={tone}>{tone === 'bad' ? 'Now' : 'Soon'}</Status>,
  },
  { name: 'About', cell: ({ about }) => <div className="said">{about}</div> },
  { name: 'Since', cell: ({ since }) => (since === null ? 'Now' : <Time at={since} />) },
];

export function ActionRequired(): ReactNode {
  const networks = useNetworks();
  const reconciled = useReconciled();
  const submissions = useRead('GET /kyb', undefined, { everyMs: WATCH_MS });
  const names = useRead('GET /name_requests', undefined, { everyMs: WATCH_MS });
  const work = useRead('GET /queues', undefined, { everyMs: WATCH_MS });
  const alarms = useRead('GET /alarms', { query: { limit: 100 } }, { everyMs: WATCH_MS });
  const proposals = useRead(
    'GET /proposals',
    { query: { open: true, limit: 100 } },
    { everyMs: WATCH_MS },
  );
  const cells = useRead('GET /cells', undefined, { everyMs: CELLS_MS });
  const [, ...others] = cells.data?.data ?? [];
  const isRead = [networks, reconciled, submissions, names, work, alarms, proposals].every(
    ({ data }) => data !== undefined,
  );
  const needs = needsOf({
    alarms: alarms.data?.data ?? [],
    moreAlarms: alarms.data?.has_more === true,
    moreDifferences: reconciled.data?.has_more === true,
    proposals: proposals.data?.data ?? [],
    cursors: reconciled.data?.cursors ?? [],
    networks: networks.data?.data ?? [],
    differences: reconciled.data?.data ?? [],
    submissions: submissions.data?.data ?? [],
    names: names.data?.data ?? [],
    work: work.data?.data ?? [],
  });
  return (
    <Page title="Action required">
      <LoadTogether>
        {!isRead || needs.length === 0 ? null : (
          <Table label="Action required" columns={COLUMNS} rows={needs} keyOf={({ key }) => key} />
        )}
        {isRead && needs.length === 0 ? (
          <EmptyState
            drawing={<EmptyDrawing name="calm" />}
            title={others.length === 0 ? 'All clear' : 'All clear in this cell'}
          >
            No alarm is open, no business is waiting, ledger and chain agree, and every sender can
            pay for its transactions.
          </EmptyState>
        ) : null}
        <Loaded query={networks}>{({ data }) => <NetworkTable networks={data} />}</Loaded>
        <MeasuredAt query={networks} />
        <Loaded query={reconciled}>{() => null}</Loaded>
        <Loaded query={submissions}>{() => null}</Loaded>
        <Loaded query={work}>{() => null}</Loaded>
        <Loaded query={alarms}>{() => null}</Loaded>
        <Loaded query={proposals}>{() => null}</Loaded>
        <Loaded query={cells}>{() => <OtherCells others={others} />}</Loaded>
      </LoadTogether>
    </Page>
  );
}
