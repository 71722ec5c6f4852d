import type { ReactNode } from 'react';
import { Link, useParams } from 'wouter';
import { named } from '#i18n/bidi-isolates.ts';
import type { ListRequestsResponse } from '../../data/types/dashboard.ts';
import { FilterSelect, type Filters, FilterText, useFilters } from '../../desk/filters.tsx';
import { Loaded } from '../../desk/loaded.tsx';
import { LongList } from '../../desk/long-list.tsx';
import { CodeWords } from '../../ui/code-words.tsx';
import { CopyId } from '../../ui/copy-id.tsx';
import { formatNumber } from '../../ui/numbers.ts';
import { Page } from '../../ui/shell.tsx';
import { Status } from '../../ui/status.tsx';
import { type Column, Fact, FactList, Table } from '../../ui/table.tsx';
import { t } from '../../ui/text/t.ts';
import { given } from '../../ui/text/untranslated-parts.ts';
import { Time } from '../../ui/time.tsx';
import { ObjectLink, RowLink } from '../payments/object-link.tsx';
import { OtherMode } from '../sessions/other-mode.tsx';
import { useChosenDays } from '../statistics/chosen-days.ts';
import { ListFilters } from '../statistics/day-filters.tsx';
import { type ErrorGroup, groupErrors } from '../statistics/error-groups.ts';
import { usePages, useRead } from '../use-merchant.ts';

type Request = ListRequestsResponse['data'][number];

/** How many of the newest failures are grouped by error and route: one page. */
const GROUPED = 100;

function HttpStatus({ status }: { readonly status: number }): ReactNode {
  const tone = status >= 500 ? 'bad' : status >= 400 ? 'warn' : 'good';
  return <Status tone={tone}>{String(status)}</Status>;
}

const columns = (): readonly Column<Request>[] => [
  {
    name: t('dashboard.request_log.request.column'),
    cell: ({ id, method, path }) => (
      <RowLink id={id}>
        <span className="id">
          {method} {path}
        </span>
      </RowLink>
    ),
  },
  { name: t('dashboard.field.status'), cell: ({ status }) => <HttpStatus status={status} /> },
  { name: t('dashboard.field.error'), cell: ({ code }) => <CodeWords code={code ?? ''} /> },
  {
    name: t('dashboard.field.duration'),
    number: true,
    cell: ({ duration_ms }) =>
      t('ui.milliseconds', { number: formatNumber(Math.round(duration_ms)) }),
  },
  {
    name: t('dashboard.field.received'),
    cell: ({ created }) => <Time at={created} shape="exact" />,
  },
];

export function RequestLog(): ReactNode {
  const filters = useFilters();
  const days = useChosenDays(filters);
  const status = filters.get('status');
  const [caller, object] = [filters.get('caller'), filters.get('object')];
  // By default the list shows requests of the merchant's own software. A filter by caller or object
  // shows all.
  const isOwn = (caller ?? object) === undefined && filters.get('sent_by') !== 'anybody';
  const filter = {
    ...days,
    failed: filters.get('failed') === 'yes' ? true : undefined,
    by_servers: isOwn ? true : undefined,
    status: status === undefined ? undefined : Number(status),
    operation: filters.get('operation'),
    caller,
    object,
  };
  const pages = usePages('GET /accounts/{account}/{mode}/request_log', { query: filter });
  return (
    <Page title={t('dashboard.page.request_log')}>
      <Errors />
      <LogFilters filters={filters} />
      <LongList
        label={t('dashboard.request_log.requests.label')}
        pages={pages}
        columns={columns()}
        keyOf={({ id }) => id}
        filters={filters}
        empty={{
          drawing: 'post',
          title: t('dashboard.request_log.empty.heading'),
          text: t('dashboard.request_log.empty'),
        }}
      />
    </Page>
  );
}

function LogFilters({ filters }: { readonly filters: Filters }): ReactNode {
  return (
    <ListFilters filters={filters}>
      <FilterSelect
        filters={filters}
        name="failed"
        label={t('dashboard.request_log.outcome.label')}
        all={t('dashboard.filter.any')}
        options={[['yes', t('dashboard.status.failed')]]}
      />
      <FilterSelect
        filters={filters}
        name="sent_by"
        label={t('dashboard.request_log.sent_by.label')}
        all={t('dashboard.request_log.your_servers.all')}
        options={[['anybody', t('dashboard.filter.anyone')]]}
      />
      <FilterText
        filters={filters}
        name="status"
        label={t('dashboard.field.status')}
        placeholder="400"
      />
      <FilterText filters={filters} name="operation" label={t('dashboard.field.operation')} />
      <FilterText
        filters={filters}
        name="caller"
        label={t('dashboard.field.caller')}
        placeholder="key_…"
        translate="no"
      />
      <FilterText
        filters={filters}
        name="object"
        label={t('dashboard.field.object')}
        placeholder="pi_…"
        translate="no"
      />
    </ListFilters>
  );
}

const groupColumns = (): readonly Column<ErrorGroup>[] => [
  {
    name: t('dashboard.field.error'),
    cell: ({ code, operation, status }) => (
      <Link
        href={`/dashboard/request-log?failed=yes&status=${status}&operation=${operation ?? ''}`}
      >
        {named(code)}
      </Link>
    ),
  },
  { name: t('dashboard.field.operation'), cell: ({ operation }) => given(operation) },
  {
    name: t('dashboard.request_log.times.column'),
    number: true,
    cell: ({ count }) => String(count),
  },
  {
    name: t('dashboard.request_log.newest.column'),
    cell: ({ newest }) => <Time at={newest.created} shape="exact" />,
  },
];

/** Recent failures, grouped by error and route. Integrations often break unnoticed. */
function Errors(): ReactNode {
  const { data } = useRead('GET /accounts/{account}/{mode}/request_log', {
    query: { limit: GROUPED, failed: true, by_servers: true },
  });
  const groups = groupErrors(data?.data ?? []);
  if (groups.length === 0) return null;
  const isAll = data?.has_more !== true;
  return (
    <section className="stack">
      <h2>
        {isAll
          ? t('dashboard.request_log.errors.text')
          : t('dashboard.request_log.the_last_errors', { count: GROUPED })}
      </h2>
      <Table
        label={t('dashboard.request_log.errors.label')}
        columns={groupColumns()}
        rows={groups}
        keyOf={({ key }) => key}
      />
    </section>
  );
}

export function RequestPage(): ReactNode {
  const { id = '' } = useParams();
  const query = useRead('GET /accounts/{account}/{mode}/request_log/{id}', { path: { id } });
  return (
    <Page title={t('dashboard.request_log.request.page')}>
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
                <Fact name={t('dashboard.field.operation')}>{given(request.operation)}</Fact>
                <Fact name={t('dashboard.field.error')}>{given(request.code)}</Fact>
                <Fact name={t('dashboard.field.object')}>
                  {request.object_id && <ObjectLink id={request.object_id} />}
                </Fact>
                <Fact name={t('dashboard.field.caller')}>
                  {request.caller && <ObjectLink id={request.caller} />}
                </Fact>
                <Fact name={t('dashboard.request_log.idempotency_key.name')}>
                  {given(request.idempotency_key)}
                </Fact>
                <Fact name={t('dashboard.request_log.took.name')}>
                  {t('ui.milliseconds', { number: formatNumber(request.duration_ms) })}
                </Fact>
                <Fact name={t('dashboard.field.received')}>
                  <Time at={request.created} shape="exact" />
                </Fact>
                <Fact name={t('dashboard.request_log.from.name')}>{request.address}</Fact>
                <Fact name={t('dashboard.request_log.user_agent.name')}>
                  {given(request.user_agent)}
                </Fact>
                <Fact name={t('dashboard.field.api_version')}>{request.api_version}</Fact>
              </FactList>
            </section>
          </>
        )}
      </Loaded>
    </Page>
  );
}
