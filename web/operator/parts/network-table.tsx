import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { Status } from '../../ui/status.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import type { Network } from '../use-networks.ts';

function Funds({ senders }: Pick<Network, 'senders'>): ReactNode {
  const funded = senders.filter(({ low, balanceWei }) => !low && balanceWei !== null).length;
  const tone = funded === senders.length ? 'good' : 'bad';
  return <Status tone={tone}>{`${funded} of ${senders.length} funded`}</Status>;
}

const COLUMNS: readonly Column<Network>[] = [
  {
    name: 'Network',
    cell: ({ network }) => (
      <Link href="/operator/relayers" className="row-link">
        <strong>{network}</strong>
      </Link>
    ),
  },
  {
    name: 'Newest block',
    cell: ({ head }) =>
      head === null ? (
        <Status tone="bad">No node answers</Status>
      ) : (
        <span>
          {Number(head.number).toLocaleString('en-US')}, <Time at={head.time} shape="exact" />
        </span>
      ),
  },
  { name: 'Senders', cell: ({ senders }) => <Funds senders={senders} /> },
  {
    name: 'In progress',
    number: true,
    cell: ({ queues }) => queues.reduce((sum, { count }) => sum + count, 0).toLocaleString('en-US'),
  },
  {
    name: 'Differences',
    number: true,
    cell: ({ openDifferences }) => openDifferences.toLocaleString('en-US'),
  },
];

export function NetworkTable({ networks }: { readonly networks: readonly Network[] }): ReactNode {
  return (
    <section className="stack">
      <h2>Networks</h2>
      <Table label="Networks" columns={COLUMNS} rows={networks} keyOf={({ network }) => network} />
    </section>
  );
}
