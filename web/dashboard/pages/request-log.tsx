import type { ReactNode } from 'react';
import { Link, useParams } from 'wouter';
import type { ListRequestsResponse } from '../../data/types/dashboard.ts';
import {
  FilterBar,
  FilterSelect,
  type Filters,
  FilterText,
  useFilters,
} from '../../desk/filters.tsx';
import { Loaded } from '../../desk/loaded.tsx';
import { LongList } from '../../desk/long-list.tsx';
import { CodeWords } from '../../ui/code-words.tsx';
import { CopyId } from '../../ui/copy-id.tsx';
import { EmptyDrawing } from '../../ui/empty-drawing.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { Page } from '../../ui/shell.tsx';
import { Status } from '../../ui/status.tsx';
import { type Column, Fact, FactList, Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { usePages, useRead } from '../merchant.ts';
import { DayFilters, NamedFilters } from '../parts/day-filters.tsx';
import { type ErrorGroup, groupErrors } from '../parts/error-groups.ts';
import { ObjectLink, RowLink } from '../parts/object-link.tsx';
import { OtherMode } from '../parts/other-mode.tsx';
import { useChosenDays } from '../parts/time-zone.ts';

type Request = ListRequestsResponse['data'][number];

const PAGE = 50;
/** How many of the newest failures are grouped: as many as one page holds. */
const GROUPED = 100;

function HttpStatus({ status }: { readonly status: number }): ReactNode {
  const tone = status >= 500 ? 'bad' : status >= 400 ? 'warn' : 'good';
  return <Status tone={tone}>{String(status)}</Status>;
}

const COLUMNS: readonly Column<Request>[] = [
  {
    name: 'Request',
    cell: ({ id, method, path }) => (
      <RowLink id={id}>
        <span className="id">
          {method} {path}
        </span>
      </RowLink>
    ),
  },
  { name: 'Status', cell: ({ status }) => <HttpStatus status={status} /> },
  { name: 'Error', cell: ({ code }) => <CodeWords code={code ?? ''} /> },
  { name: 'Duration', number: true, cell: ({ duration_ms }) => `${Math.round(duration_ms)} ms` },
  { name: 'Received', cell: ({ created }) => <Time at={created} shape="exact" /> },
];

export function RequestLog(): ReactNode {
  const filters = useFilters();
  const days = useChosenDays(filters);
  const status = filters.get('status');
  const [caller, object] = [filters.get('caller'), filters.get('object')];
  // One comes for the calls of one's own software. Whoever names a caller or an object wants all.
  const isOwn = (caller ?? object) === undefined && filters.get('sent_by') !== 'anybody';
  const asked = {
    ...days,
    failed: filters.get('failed') === 'yes' ? true : undefined,
    by_servers: isOwn ? true : undefined,
    status: status === undefined ? undefined : Number(status),
    operation: filters.get('operation'),
    caller,
    object,
  };
  const pages = usePages('GET /accounts/{account}/{mode}/request_log', (cursor) => ({
    query: { limit: PAGE, cursor, ...asked },
  }));
  return (
    <Page title="Request log">
      <Errors />
      <LogFilters filters={filters} />
      <LongList
        label="Requests"
        pages={pages}
        columns={COLUMNS}
        keyOf={({ id }) => id}
        filters={filters}
        empty={
          <EmptyState drawing={<EmptyDrawing name="post" />} title="No requests yet">
            Each request from your servers is listed here for 30 days, with its response.
          </EmptyState>
        }
      />
    </Page>
  );
}

function LogFilters({ filters }: { readonly filters: Filters }): ReactNode {
  return (
    <FilterBar filters={filters} below={<NamedFilters filters={filters} />}>
      <FilterSelect
        filters={filters}
        name="failed"
        label="Outcome"
        all="Any"
        options={[['yes', 'Failed']]}
      />
      <FilterSelect
        filters={filters}
        name="sent_by"
        label="Sent by"
        all="Your servers"
        options={[['anybody', 'Anyone']]}
      />
      <FilterText filters={filters} name="status" label="Status" placeholder="400" />
      <FilterText filters={filters} name="operation" label="Operation" />
      <FilterText filters={filters} name="caller" label="Caller" placeholder="key_…" />
      <FilterText filters={filters} name="object" label="Object" placeholder="pi_…" />
      <DayFilters filters={filters} />
    </FilterBar>
  );
}

const GROUP_COLUMNS: readonly Column<ErrorGroup>[] = [
  {
    name: 'Error',
    cell: ({ code, operation, status }) => (
      <Link
        href={`/dashboard/request-log?failed=yes&status=${status}&operation=${operation ?? ''}`}
      >
        {code}
      </Link>
    ),
  },
  { name: 'Operation', cell: ({ operation }) => operation ?? '' },
  { name: 'Times', number: true, cell: ({ count }) => String(count) },
  { name: 'Newest', cell: ({ newest }) => <Time at={newest.created} shape="exact" /> },
];

/** What went wrong lately, by error and place: integrations break silently. */
function Errors(): ReactNode {
  const { data } = useRead('GET /accounts/{account}/{mode}/request_log', {
    query: { limit: GROUPED, failed: true, by_servers: true },
  });
  const groups = groupErrors(data?.data ?? []);
  if (groups.length === 0) return null;
  const isAll = data?.has_more !== true;
  return (
    <section className="stack">
      <h2>{isAll ? 'Errors of the last 30 days' : `The last ${GROUPED} errors`}</h2>
      <Table label="Errors" columns={GROUP_COLUMNS} rows={groups} keyOf={({ key }) => key} />
    </section>
  );
}

export function RequestPage(): ReactNode {
  const { id = '' } = useParams();
  const query = useRead('GET /accounts/{account}/{mode}/request_log/{id}', { path: { id } });
  return (
    <Page title="Request">
      <Loaded query={query} missing={<OtherMode />}>
        {(request) => (
          <>
            <div className="headline">
              <h2 className="id">
                {request.method} {request.path}
              </h2>
              <HttpStatus status={request.status} />
              <CopyId id={request.id} />
            </div>
            <section className="card">
              <FactList>
                <Fact name="Operation">{request.operation}</Fact>
                <Fact name="Error">{request.code}</Fact>
                <Fact name="Object">
                  {request.object_id && <ObjectLink id={request.object_id} />}
                </Fact>
                <Fact name="Caller">{request.caller && <ObjectLink id={request.caller} />}</Fact>
                <Fact name="Idempotency-Key">{request.idempotency_key}</Fact>
                <Fact name="Took">{`${request.duration_ms} ms`}</Fact>
                <Fact name="Received">
                  <Time at={request.created} shape="exact" />
                </Fact>
                <Fact name="From">{request.address}</Fact>
                <Fact name="User agent">{request.user_agent}</Fact>
                <Fact name="API version">{request.api_version}</Fact>
              </FactList>
            </section>
          </>
        )}
      </Loaded>
    </Page>
  );
}
