import type { ReactNode } from 'react';
import { Link } from 'wouter';
import type { ReadQueuesResponse } from '../../data/types/operator.ts';
import { LoadTogether } from '../../desk/load-together.tsx';
import { Loaded } from '../../desk/loaded.tsx';
import { Page } from '../../ui/shell.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { MeasuredAt } from '../parts/measured-at.tsx';
import { type ChainQueue, useNetworks } from '../use-networks.ts';
import { useRead } from '../use-operator.ts';

type Queue = ReadQueuesResponse['data'][number];
type Request = ChainQueue & { readonly network: string };

const WATCH_MS = 5_000;

function placeOf(queue: string): string {
  if (queue === 'business verifications') return '/operator/verification';
  return `/operator/queues/entries?${new URLSearchParams({ queue })}`;
}

const QUEUES: readonly Column<Queue>[] = [
  { name: 'Queue', cell: ({ queue }) => <Link href={placeOf(queue)}>{queue}</Link> },
  {
    name: 'Oldest since',
    cell: ({ oldest }) => (oldest === null ? 'Empty' : <Time at={oldest} />),
  },
  { name: 'Waiting', number: true, cell: ({ waiting }) => String(waiting) },
];

const REQUESTS: readonly Column<Request>[] = [
  {
    name: 'Request',
    cell: ({ kind, network, status }) => (
      <Link href={`/operator/queues/chain?${new URLSearchParams({ kind, network, status })}`}>
        {kind.replaceAll('_', ' ')}
      </Link>
    ),
  },
  { name: 'Network', cell: ({ network }) => network },
  { name: 'State', cell: ({ status }) => status },
  { name: 'Oldest since', cell: ({ oldest }) => <Time at={oldest} /> },
  { name: 'Waiting', number: true, cell: ({ count }) => String(count) },
];

/** Sorts by the oldest item; empty queues come last. */
function byAge(a: Queue, b: Queue): number {
  return (a.oldest ?? '~').localeCompare(b.oldest ?? '~');
}

/**
 * Lists the queues of pending work, each with the age of its oldest item, which is more informative
 * than an average.
 */
export function Queues(): ReactNode {
  const work = useRead('GET /queues', undefined, { everyMs: WATCH_MS });
  const networks = useNetworks();
  return (
    <Page title="Queues">
      <LoadTogether>
        <Loaded query={work}>
          {({ data }) => (
            <Table
              label="Queues"
              columns={QUEUES}
              rows={[...data].sort(byAge)}
              keyOf={({ queue }) => queue}
            />
          )}
        </Loaded>
        <MeasuredAt query={work} />
        <h2>On the way to the chain</h2>
        <Loaded query={networks}>
          {({ data }) => {
            const rows = data.flatMap(({ network, queues }) =>
              queues.map((queue) => ({ ...queue, network })),
            );
            if (rows.length === 0) return <p className="soft">No requests are in progress.</p>;
            return (
              <Table
                label="Settlement jobs"
                columns={REQUESTS}
                rows={rows}
                keyOf={({ network, kind, status }) => `${network} ${kind} ${status}`}
              />
            );
          }}
        </Loaded>
      </LoadTogether>
    </Page>
  );
}
