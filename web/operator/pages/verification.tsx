import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { named } from '#i18n/bidi-isolates.ts';
import type {
  ListNameRequestsResponse,
  ListVerificationQueueResponse,
} from '../../data/types/operator.ts';
import { List } from '../../desk/short-list.tsx';
import { Page } from '../../ui/shell.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { MeasuredAt } from '../parts/measured-at.tsx';
import { useRead } from '../use-operator.ts';

type Waiting = ListVerificationQueueResponse['data'][number];

const WATCH_MS = 10_000;

const COLUMNS: readonly Column<Waiting>[] = [
  {
    name: 'Name',
    cell: ({ account, name }) => (
      <Link href={`/operator/verification/${account}`} className="row-link">
        <strong>{named(name)}</strong> <span className="unseen">{account}</span>
      </Link>
    ),
  },
  { name: 'Account', cell: ({ account }) => <span className="id soft">{account}</span> },
  { name: 'Submitted', cell: ({ submitted_at: at }) => <Time at={at} /> },
  { name: 'Documents', number: true, cell: ({ documents }) => String(documents) },
];

type Renaming = ListNameRequestsResponse['data'][number];

const NAMES: readonly Column<Renaming>[] = [
  {
    name: 'Current name',
    cell: ({ account, name }) => (
      <Link href={`/operator/accounts/${account}`} className="row-link">
        <strong>{named(name)}</strong> <span className="unseen">{account}</span>
      </Link>
    ),
  },
  { name: 'Requested name', cell: ({ requested_name: name }) => <bdi>{name}</bdi> },
  { name: 'Account', cell: ({ account }) => <span className="id soft">{account}</span> },
  { name: 'Since', cell: ({ created }) => <Time at={created} /> },
];

export function Verification(): ReactNode {
  const query = useRead('GET /kyb', undefined, { everyMs: WATCH_MS });
  const names = useRead('GET /name_requests', undefined, { everyMs: WATCH_MS });
  return (
    <Page title="Verification">
      <List
        label="Verification"
        query={query}
        columns={COLUMNS}
        keyOf={({ account }) => account}
        empty={{
          drawing: 'calm',
          title: 'No business is waiting',
          text:
            'Merchants submit details and documents in the dashboard. Earlier decisions are on ' +
            'the page of each account.',
        }}
      />
      {names.data === undefined || names.data.data.length === 0 ? null : (
        <>
          <h2>New names</h2>
          <Table
            label="New names"
            columns={NAMES}
            rows={names.data.data}
            keyOf={({ account }) => account}
          />
        </>
      )}
      <MeasuredAt query={query} />
    </Page>
  );
}
