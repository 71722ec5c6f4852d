-- Events, webhook endpoints and deliveries.
--
-- `body` is the event as it is delivered and as GET /v1/events/{id} returns it, byte for byte.
-- Events, finished deliveries and attempts are partitioned by the UTC day of the EVENT, so that
-- retention drops a day of all three at once instead of deleting rows, and an id (which begins
-- with that time) leads to its partition. Workers make the partitions of the coming days
-- (src/events/retention.ts). The default partitions hold the first day, and catch what nobody has
-- prepared for: an event is never refused because a partition is missing.

create table events (
  id text collate "C" not null,
  account_id text collate "C" not null,
  livemode boolean not null,
  position bigint not null,
  created timestamptz(3) not null,
  type text not null,
  object_id text collate "C" not null,
  body text not null,
  primary key (id, created)
) partition by range (created);

create index events_list on events (account_id, livemode, created, position);
create index events_list_type on events (account_id, livemode, type, created, position);
create table events_default partition of events default;

create table webhook_endpoints (
  id text collate "C" primary key,
  account_id text collate "C" not null references accounts (id),
  livemode boolean not null,
  url text not null,
  enabled_events text[] not null check (cardinality(enabled_events) > 0),
  description text,
  api_version text not null,
  status text not null default 'enabled' check (status in ('enabled', 'disabled')),
  disabled_reason text,
  failing_since timestamptz(3),
  -- AES-256-GCM under the process's key, bound to the id.
  secret bytea not null,
  previous_secret bytea,
  previous_secret_until timestamptz(3),
  created timestamptz(3) not null,
  updated timestamptz(3) not null,
  check ((previous_secret is null) = (previous_secret_until is null)),
  check ((status = 'disabled') = (disabled_reason is not null))
);

create index webhook_endpoints_account on webhook_endpoints (account_id, livemode, created);
create index webhook_endpoints_failing on webhook_endpoints (failing_since)
  where failing_since is not null and status = 'enabled';

-- Who delivers to an endpoint, until when. One worker at a time works an endpoint: so at most
-- eight requests are in flight to it however many workers run, and its breaker has one owner.
-- Every new lease has a higher fence; whoever finishes with an older fence changes nothing.
create table webhook_lanes (
  endpoint_id text collate "C" primary key references webhook_endpoints (id) on delete cascade,
  lease_owner text,
  lease_until timestamptz(3) not null default '-infinity',
  fence bigint not null default 0,
  consecutive_failures integer not null default 0,
  -- A broken endpoint, or one that said Retry-After, gets nothing before this.
  not_before timestamptz(3) not null default '-infinity'
) with (fillfactor = 20, autovacuum_vacuum_threshold = 200, autovacuum_vacuum_scale_factor = 0);

-- One delivery per event and endpoint, ever: a replay or a retry continues it. The id begins with
-- the event's time (9 characters, finer than a millisecond).
create function webhook_delivery_id(event_id text, endpoint_id text) returns text
  language sql immutable parallel safe
  return 'wdl_' || substr(event_id, 5, 9) || left(translate(
    encode(sha256(convert_to(event_id || ' ' || endpoint_id, 'UTF8')), 'base64'), '+/=', 'aZ'), 13);

-- Deliveries that are not finished: a small hot table. A finished one moves to
-- webhook_deliveries, which is append-only; so the queue never wades through history, and the
-- usual delivery costs one insert, one delete and one append.
create table webhook_due (
  endpoint_id text collate "C" not null,
  event_created timestamptz(3) not null,
  event_position bigint not null,
  id text collate "C" not null,
  account_id text collate "C" not null,
  livemode boolean not null,
  event_id text collate "C" not null,
  event_type text not null,
  created timestamptz(3) not null,
  updated timestamptz(3) not null,
  -- '-infinity': asked for by hand, before everything else of its endpoint.
  due_at timestamptz(3) not null,
  attempt integer not null default 0,
  response_status integer,
  response_body text,
  error text,
  duration_ms integer,
  primary key (endpoint_id, event_created, event_position)
) with (
  fillfactor = 90,
  autovacuum_vacuum_scale_factor = 0,
  autovacuum_vacuum_threshold = 500,
  autovacuum_analyze_scale_factor = 0,
  autovacuum_analyze_threshold = 500,
  autovacuum_vacuum_cost_delay = 0
);

create index webhook_due_turn on webhook_due (endpoint_id, due_at);

create table webhook_deliveries (
  endpoint_id text collate "C" not null,
  status text not null check (status in ('succeeded', 'failed')),
  event_created timestamptz(3) not null,
  event_position bigint not null,
  id text collate "C" not null,
  account_id text collate "C" not null,
  livemode boolean not null,
  event_id text collate "C" not null,
  event_type text not null,
  created timestamptz(3) not null,
  updated timestamptz(3) not null,
  attempt integer not null,
  response_status integer,
  response_body text,
  error text,
  duration_ms integer,
  -- Serves every list: newest first, all or of one status, and the events without success.
  primary key (endpoint_id, status, event_created, event_position)
) partition by range (event_created);

create table webhook_deliveries_default partition of webhook_deliveries default;

-- Attempts that failed. (One that succeeded is the last of its delivery and stands there.)
create table webhook_attempts (
  endpoint_id text collate "C" not null,
  event_created timestamptz(3) not null,
  event_position bigint not null,
  attempt integer not null,
  finished timestamptz(3) not null,
  response_status integer,
  response_body text,
  error text not null,
  duration_ms integer not null,
  primary key (endpoint_id, event_created, event_position, attempt)
) partition by range (event_created);

create table webhook_attempts_default partition of webhook_attempts default;

-- Replays asked for by merchants, worked off in portions. The place is that of the last event
-- taken: a crash resumes there.
create table webhook_replays (
  id text collate "C" primary key,
  account_id text collate "C" not null,
  livemode boolean not null,
  endpoint_id text collate "C" not null references webhook_endpoints (id) on delete cascade,
  since timestamptz(3) not null,
  until timestamptz(3) not null,
  types text[] not null,
  status text not null default 'running' check (status in ('running', 'completed')),
  events_queued integer not null default 0,
  place_created timestamptz(3) not null,
  place_position bigint not null default 0,
  created timestamptz(3) not null,
  updated timestamptz(3) not null
);

create index webhook_replays_running on webhook_replays (created) where status = 'running';
create index webhook_replays_endpoint on webhook_replays (endpoint_id, created);
