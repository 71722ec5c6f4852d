import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import type { RouteRequest } from '../../data/typed-calls.ts';
import type { ListQueueEntriesResponse, Operations } from '../../data/types/operator.ts';
import { useFilters } from '../../desk/filters.tsx';
import { List } from '../../desk/short-list.tsx';
import { Page } from '../../ui/shell.tsx';
import type { Column } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { useRead } from '../use-operator.ts';

type Entry = ListQueueEntriesResponse['data'][number];
type Root = '/operator/v1';
type QueueQuery = NonNullable<RouteRequest<Operations, Root, 'GET /queues/entries'>['query']>;
type AskedRequests = NonNullable<
  RouteRequest<Operations, Root, 'GET /queues/chain_requests'>['query']
>;

const WATCH_MS = 5_000;

function What({ entry: { id, payment_intent: intent } }: { readonly entry: Entry }): ReactNode {
  const words = <span className="id">{id}</span>;
  return intent === null ? <>{words}</> : <Link href={`/operator/support/${intent}`}>{words}</Link>;
}

const COLUMNS: readonly Column<Entry>[] = [
  { name: 'What', cell: (entry) => <What entry={entry} /> },
  { name: 'Waiting since', cell: ({ since }) => <Time at={since} shape="exact" /> },
  { name: 'So far', cell: ({ note }) => <div className="said">{note}</div> },
  {
    name: 'Account',
    cell: ({ account }) =>
      account === null ? null : (
        <Link href={`/operator/accounts/${account}`}>
          <span className="id">{account}</span>
        </Link>
      ),
  },
  { name: 'Mode', cell: ({ mode }) => (mode === 'live' ? 'Live' : mode === 'test' ? 'Test' : '') },
];

function Entries({
  title,
  query,
}: {
  readonly title: string;
  readonly query: UseQueryResult<ListQueueEntriesResponse>;
}): ReactNode {
  return (
    <Page title={title}>
      <p className="soft">
        The oldest 50. <Link href="/operator/queues">All queues</Link>
      </p>
      <List
        label={title}
        query={query}
        columns={COLUMNS}
        keyOf={({ id, since }) => `${id} ${since}`}
        empty={{
          drawing: 'calm',
          title: 'This queue is empty',
          text: 'Everything in it has been processed.',
        }}
      />
    </Page>
  );
}

export function Queue(): ReactNode {
  const filters = useFilters();
  const queue = (filters.get('queue') ?? 'refunds') as NonNullable<QueueQuery['queue']>;
  const query = useRead('GET /queues/entries', { query: { queue } }, { everyMs: WATCH_MS });
  return <Entries title={queue.charAt(0).toUpperCase() + queue.slice(1)} query={query} />;
}

/** Lists the settlement jobs of one kind that have not settled yet. */
export function WaitingRequests(): ReactNode {
  const filters = useFilters();
  const kind = filters.get('kind') ?? 'payment';
  const network = (filters.get('network') ?? 'mainnet') as NonNullable<AskedRequests['network']>;
  const status = (filters.get('status') ?? 'queued') as NonNullable<AskedRequests['status']>;
  const input = { query: { network, kind, status } };
  const query = useRead('GET /queues/chain_requests', input, { everyMs: WATCH_MS });
  return <Entries title={`${kind.replaceAll('_', ' ')}, ${status}, ${network}`} query={query} />;
}
