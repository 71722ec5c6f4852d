import { columnsFrom, type Sent } from '#db/columns.ts';
import type { Database, Tx } from '#db/database.ts';
import { as, type Row, table } from '#db/table.ts';
import { type DeliveryStatus, PLACE_COLUMNS, webhookDue } from '#webhooks/delivery-tables.ts';
import { webhookEndpoints } from '#webhooks/endpoint-rules.ts';

export const webhookLeases = table('webhook_endpoint_leases', {
  endpoint_id: 'text',
  fencing_token: 'bigint',
  consecutive_failures: 'int',
  not_before: 'timestamptz',
});

const LEASE = webhookLeases.pick(['endpoint_id', 'fencing_token', 'consecutive_failures'], 'l');
const LEASED = webhookEndpoints.pick(
  [
    'failing_since',
    'status',
    'url',
    'api_version',
    'secret',
    'previous_secret',
    'previous_secret_until',
    'updated',
  ],
  'e',
);
const LEASED_COLUMNS = `
  ${LEASE}, nullif(l.not_before, '-infinity') as not_before, ${LEASED}`;

/** The properties of an endpoint and its lease that a worker needs. */
export type LeasedRow = Row<typeof LEASE> & Row<typeof LEASED> & { not_before: Date | null };

/**
 * Makes the queue's statements use the indexes row by row, regardless of statistics: a plan made
 * while the tables were small would scan large tables completely. The form of the statements fixes
 * the order of joins: "limit 1" in a lateral part keeps it inside the loop, and "= any" becomes an
 * index condition.
 */
const INDEX_PLANS = `
  select set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true),
    set_config('enable_sort', 'off', true), set_config('enable_hashjoin', 'off', true),
    set_config('enable_mergejoin', 'off', true)`;

async function withIndexPlans<T>(db: Database, work: (tx: Tx) => Promise<T>): Promise<T> {
  return db.transaction(async (tx) => {
    // Not awaited: the connection is pipelined, so both statements travel together.
    const [, result] = await Promise.all([tx.query(INDEX_PLANS), work(tx)]);
    return result;
  });
}

// The recursive scan jumps from endpoint to endpoint through the index, so that a backlog of
// 100,000 deliveries for one endpoint costs as much as a single one.
const CLAIM = `
  with recursive scan (endpoint_id) as (
    (select endpoint_id from webhook_due where endpoint_id > $4 order by endpoint_id limit 1)
    union all
    select (
      select d.endpoint_id from webhook_due d where d.endpoint_id > s.endpoint_id
      order by d.endpoint_id limit 1
    ) from scan s where s.endpoint_id is not null
  ), waiting as (
    select s.endpoint_id,
      case when l.consecutive_failures > 0 then $6::int else $5::int end as most,
      row_number() over (partition by l.consecutive_failures > 0 order by s.endpoint_id) as place
    from scan s cross join lateral (
      select consecutive_failures from webhook_endpoint_leases
      where endpoint_id = s.endpoint_id and lease_until <= $2
        and lease_owner is distinct from $1 and not_before <= $2
        and exists (
          select from webhook_due d
          where d.endpoint_id || '' = s.endpoint_id and d.due_at <= $2)
      limit 1
    ) l
  ), picked as (
    select l.endpoint_id from webhook_endpoint_leases l
    where l.endpoint_id = any(array(select endpoint_id from waiting where place <= most))
      and l.lease_until <= $2
    for no key update of l skip locked
  )
  update webhook_endpoint_leases l set lease_owner = $1, lease_until = $3,
    fencing_token = l.fencing_token + 1
  from webhook_endpoints e
  where l.endpoint_id = any(array(select endpoint_id from picked))
    and e.id = any(array(select endpoint_id from picked))
    and e.id = l.endpoint_id and e.status = 'enabled'
  returning ${LEASED_COLUMNS}`;

export interface Claim {
  readonly owner: string;
  readonly now: Date;
  readonly leaseUntil: Date;
  /** Search after this endpoint, so that a full worker does not always take the same ones. */
  readonly after: string;
  readonly limits: { readonly healthy: number; readonly failing: number };
}

/**
 * Leases endpoints with due work that no worker holds. The worker's own endpoints are excluded:
 * after a clock jump, it must not claim them again while requests are in flight.
 */
export async function claimEndpoints(db: Database, claim: Claim): Promise<LeasedRow[]> {
  const { owner, now, leaseUntil, after, limits } = claim;
  const values = [owner, now, leaseUntil, after, limits.healthy, limits.failing];
  return withIndexPlans(db, (tx) => tx.query<LeasedRow>(CLAIM, values));
}

/** Renews the leases that this worker still holds, and reads their endpoints again. */
export async function renewLeases(
  db: Database,
  lease: { readonly owner: string; readonly until: Date },
  endpointIds: readonly string[],
): Promise<LeasedRow[]> {
  return db.query(
    `update webhook_endpoint_leases l set lease_until = $2 from webhook_endpoints e
     where l.endpoint_id = any($3) and l.lease_owner = $1 and e.id = l.endpoint_id
     returning ${LEASED_COLUMNS}`,
    [lease.owner, lease.until, endpointIds],
  );
}

export async function releaseEndpoints(
  db: Database,
  owner: string,
  endpointIds: readonly string[],
): Promise<void> {
  await db.query(
    `update webhook_endpoint_leases set lease_owner = null, lease_until = '-infinity'
     where endpoint_id = any($2) and lease_owner = $1`,
    [owner, endpointIds],
  );
}

const DUE = webhookDue.pick(
  ['endpoint_id', 'event_created', 'event_position', 'id', 'event_id', 'event_type', 'attempt'],
  'd',
);

/** A due delivery. Its body is missing if the event's retention has ended. */
export type DueRow = Row<typeof DUE> & { endpoint_updated: Date; body: string | null };

const FETCH = `
  select ${DUE}, p.updated as endpoint_updated, v.body
  from jsonb_to_recordset($1::jsonb) as asked (endpoint_id text, most integer, held bigint[])
  cross join lateral (
    select updated from webhook_endpoints
    where id = asked.endpoint_id and status = 'enabled' and livemode = any($3) limit 1
  ) p
  cross join lateral (
    select * from webhook_due w
    where w.endpoint_id || '' = asked.endpoint_id and w.due_at <= $2
      and w.event_position <> all (asked.held)
    order by w.endpoint_id || '', w.due_at limit asked.most
  ) d
  left join lateral (
    select e.body from events e where e.id = d.event_id and e.created = d.event_created limit 1
  ) v on true`;

/** The deliveries to fetch for one endpoint. */
export interface Ask {
  readonly endpointId: string;
  /** Maximum number of deliveries to take. */
  readonly most: number;
  /** Positions of the deliveries that the worker holds. */
  readonly held: readonly bigint[];
}

/**
 * Returns the next due deliveries of these endpoints, oldest first, with their exact bodies. Skips
 * a network while its ledger is being compared with its chain.
 */
export async function fetchDue(db: Database, asks: readonly Ask[], now: Date): Promise<DueRow[]> {
  const modes = [false, true].filter((livemode) => db.watch.serves(livemode));
  const rows = asks.map(({ endpointId, most, held }) => ({
    endpoint_id: endpointId,
    most,
    held: held.map(String),
  }));
  const values = [JSON.stringify(rows), now, modes];
  return withIndexPlans(db, (tx) => tx.query<DueRow>(FETCH, values));
}

const RESULTS = columnsFrom(2, {
  endpoint_id: 'text',
  fencing_token: 'bigint',
  event_created: 'timestamptz',
  event_position: 'bigint',
  status: as<DeliveryStatus>('text'),
  attempt: 'int',
  finished: 'timestamptz',
  response_status: 'int?',
  response_body: 'text?',
  error: 'text?',
  duration_ms: 'int',
  next_attempt_at: 'timestamptz?',
});

export type ResultRow = Sent<typeof RESULTS>;

type ResultColumn = (typeof RESULTS.names)[number];

/** SQL: reads a result's column where it is written, so that earlier steps need not pass it on. */
function at(name: ResultColumn): string {
  return RESULTS.at(name, 'f.n');
}

const RECORD = `
  with leases as materialized (
    select l.endpoint_id, l.fencing_token from webhook_endpoint_leases l
    where l.endpoint_id = any($1) order by l.endpoint_id for no key update
  ), input as (
    select n::int as n,
      ${RESULTS.select(
        ['endpoint_id', 'fencing_token', 'event_created', 'event_position', 'status'],
        'n',
      )}
    from unnest(${RESULTS.all('fencing_token')}) with ordinality as t (fencing_token, n)
  ), checked as materialized (
    -- With "is true" the planner uses a hash table. Without it, it would use a nested loop.
    select i.*,
      ((i.endpoint_id, i.fencing_token) in (select endpoint_id, fencing_token from leases))
        is true as ok
    from input i
  ), fresh as materialized (
    select c.n, c.endpoint_id, c.event_created, c.event_position, c.status, w.place
    from checked c cross join lateral (
      select ctid as place from webhook_due
      where endpoint_id = c.endpoint_id and event_created = c.event_created
        and event_position = c.event_position
      limit 1
    ) w
    where c.ok
  ), finished as (
    -- All other changes of these rows hold the lease's lock, so their places are still valid.
    delete from webhook_due d using fresh f
    where f.status <> 'pending' and d.ctid = f.place
    returning d.endpoint_id, f.status, d.event_created, d.event_position, d.id, d.account_id,
      d.livemode, d.event_id, d.event_type, d.created, f.n
  ), history as (
    insert into webhook_deliveries
      (${PLACE_COLUMNS}, status, updated, attempt, response_status, response_body, error,
       duration_ms)
    select ${PLACE_COLUMNS}, status, ${at('finished')}, ${at('attempt')}, ${at('response_status')},
      ${at('response_body')}, ${at('error')}, ${at('duration_ms')}
    from finished f
  ), retried as (
    update webhook_due d set attempt = ${at('attempt')}, due_at = ${at('next_attempt_at')},
      updated = ${at('finished')}, response_status = ${at('response_status')},
      response_body = ${at('response_body')}, error = ${at('error')},
      duration_ms = ${at('duration_ms')}
    from fresh f
    where f.status = 'pending' and d.ctid = f.place
  ), attempts as (
    insert into webhook_attempts
      (endpoint_id, event_created, event_position, attempt, finished, response_status,
       response_body, error, duration_ms)
    select endpoint_id, event_created, event_position, ${at('attempt')}, ${at('finished')},
      ${at('response_status')}, ${at('response_body')}, ${at('error')}, ${at('duration_ms')}
    from fresh f where ${at('error')} is not null
    on conflict do nothing
  )
  select distinct endpoint_id from checked where not ok`;

const HEALTH = columnsFrom(2, {
  endpoint_id: 'text',
  fencing_token: 'bigint',
  consecutive_failures: 'int',
  not_before: 'timestamptz?',
  failing_since: 'timestamptz?',
});

/** The health of an endpoint, according to its latest answers. */
export type HealthRow = Sent<typeof HEALTH>;

const RECORD_HEALTH = `
  with input as materialized (
    select i.* from ${HEALTH.table('i')}
    cross join lateral (
      select from webhook_endpoint_leases
      where endpoint_id = i.endpoint_id and fencing_token = i.fencing_token limit 1
    ) l
  ), leases as (
    update webhook_endpoint_leases l set consecutive_failures = i.consecutive_failures,
      not_before = coalesce(i.not_before, '-infinity')
    from input i
    where l.endpoint_id = any($1) and l.endpoint_id = i.endpoint_id and (
      l.consecutive_failures <> i.consecutive_failures
      or l.not_before <> coalesce(i.not_before, '-infinity'))
  )
  update webhook_endpoints e set failing_since = i.failing_since
  from input i
  where e.id = any($1) and e.id = i.endpoint_id
    and e.failing_since is distinct from i.failing_since`;

/**
 * Records the results of many deliveries in one transaction. Results of an expired lease change
 * nothing, because the worker that now holds the endpoint sends those deliveries again.
 * @returns the endpoints whose leases had expired.
 */
export async function recordResults(
  db: Database,
  results: readonly ResultRow[],
  health: readonly HealthRow[],
): Promise<ReadonlySet<string>> {
  const endpointIds = [...new Set(results.map((result) => result.endpoint_id))];
  return withIndexPlans(db, async (tx) => {
    const [stale] = await Promise.all([
      RESULTS.run<{ endpoint_id: string }>(tx, RECORD, { before: [endpointIds], rows: results }),
      HEALTH.run(tx, RECORD_HEALTH, { before: [endpointIds], rows: health }),
    ]);
    return new Set(stale.map((row) => row.endpoint_id));
  });
}
