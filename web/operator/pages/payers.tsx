import type { ReactNode } from 'react';
import type { BlockAnyPayerResponse, SearchPayersResponse } from '../../data/types/operator.ts';
import { FilterBar, FilterText, useFilters } from '../../desk/filters.tsx';
import { List } from '../../desk/short-list.tsx';
import { endOfAddress } from '../../ui/address.ts';
import { EmptyDrawing } from '../../ui/empty-drawing.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { Page } from '../../ui/shell.tsx';
import { Status } from '../../ui/status.tsx';
import type { Column } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { ReasonButton } from '../parts/reason-button.tsx';
import { useOperator, useRead } from '../use-operator.ts';

type Payer = SearchPayersResponse['data'][number];

const COLUMNS: readonly Column<Payer>[] = [
  {
    name: 'Wallet',
    cell: ({ address }) => <strong title={address}>Wallet {endOfAddress(address)}</strong>,
  },
  { name: 'Network', cell: ({ network }) => network },
  { name: 'Passes', number: true, cell: ({ passes }) => String(passes) },
  { name: 'Since', cell: ({ created }) => <Time at={created} /> },
  {
    name: 'Status',
    cell: ({ blocked_at: blocked }) => (
      <Status tone={blocked === null ? 'good' : 'bad'}>
        {blocked === null ? 'Can pay' : 'Blocked'}
      </Status>
    ),
  },
  { name: 'Address', cell: ({ address }) => <span className="id">{address}</span> },
  { name: 'ID', cell: ({ id }) => <span className="id">{id}</span> },
  { name: 'Change', cell: (payer) => <Block payer={payer} /> },
];

/** Finds payers by id or wallet. The console has no list of all payers. */
export function Payers(): ReactNode {
  const filters = useFilters();
  const text = filters.get('text') ?? '';
  const query = useRead('GET /payers', { query: { text } }, { enabled: text !== '' });
  return (
    <Page title="Payers">
      <FilterBar filters={filters}>
        <FilterText filters={filters} name="text" label="Find" placeholder="pyr_… or 0x…" />
      </FilterBar>
      {text === '' ? (
        <EmptyState drawing={<EmptyDrawing name="search" />} title="Enter an ID or a wallet">
          Each payment names its payer. Here you see their passes, and block or unblock them.
        </EmptyState>
      ) : (
        <List
          label="Payers"
          query={query}
          columns={COLUMNS}
          keyOf={({ id }) => id}
          filters={filters}
          empty={null}
        />
      )}
    </Page>
  );
}

/**
 * Returns the confirmation text: done if the operator is the only one, or that a colleague must
 * agree.
 */
function saidOf({ status }: BlockAnyPayerResponse): string {
  return status === 'open' ? 'Sent. A colleague has to approve it.' : 'Done.';
}

function Block({ payer }: { readonly payer: Payer }): ReactNode {
  const { call, mayChange } = useOperator();
  const { id, blocked_at: blocked } = payer;
  const path = { id };
  const shared = { hint: 'For your colleague and the audit log.', said: saidOf };
  if (!mayChange) return null;
  return blocked === null ? (
    <ReasonButton
      {...shared}
      title="Stop this payer?"
      send="Block"
      kind="danger"
      request={(reason) => call('POST /payers/{id}/block', { path, body: { reason } })}
    >
      <p>Every tap is declined, at every merchant, as soon as a colleague agrees.</p>
    </ReasonButton>
  ) : (
    <ReasonButton
      {...shared}
      title="Let this payer pay again?"
      send="Unblock"
      request={(reason) => call('POST /payers/{id}/unblock', { path, body: { reason } })}
    >
      <p>The usual rules apply to taps again as soon as a colleague agrees.</p>
    </ReasonButton>
  );
}
