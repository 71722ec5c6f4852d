-- Webhook endpoints, deliveries and replays.

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
  -- AES-256-GCM under a key of TAPLINE_SECRET, bound to the id.
  secret bytea not null,
  previous_secret bytea,
  previous_secret_until timestamptz(3),
  created timestamptz(3) not null,
  updated timestamptz(3) not null,
  version integer not null default 1,
  check ((previous_secret is null) = (previous_secret_until is null)),
  check ((status = 'disabled') = (disabled_reason is not null))
);

create index webhook_endpoints_account on webhook_endpoints (account_id, livemode, created);
create index webhook_endpoints_failing on webhook_endpoints (failing_since)
  where failing_since is not null and status = 'enabled';

-- Endpoint leases: which worker delivers to an endpoint, and until when. One worker at a time, so
-- that at most eight requests to it are in flight however many workers run, and its circuit breaker
-- has one owner. Each lease has a higher fencing token; a write with an older one changes nothing.
create table webhook_endpoint_leases (
  endpoint_id text collate "C" primary key references webhook_endpoints (id) on delete cascade,
  lease_owner text,
  lease_until timestamptz(3) not null default '-infinity',
  fencing_token bigint not null default 0,
  consecutive_failures integer not null default 0,
  -- No delivery before this time: the endpoint keeps failing, or has sent Retry-After.
  not_before timestamptz(3) not null default '-infinity'
) with (fillfactor = 20, autovacuum_vacuum_threshold = 200, autovacuum_vacuum_scale_factor = 0);

-- One delivery per event and endpoint, ever: a replay or a retry continues it. The id begins with
-- the event's time (9 characters, finer than a millisecond).
create function webhook_delivery_id(event_id text, endpoint_id text) returns text
  language sql immutable parallel safe
  return 'wdl_' || substr(event_id, 5, 9) || left(translate(
    encode(sha256(convert_to(event_id || ' ' || endpoint_id, 'UTF8')), 'base64'), '+/=', 'aZ'), 13);

-- The queue: deliveries that are not finished, a small table with many changes. A finished delivery
-- moves to webhook_deliveries, which only grows. So the queue does not read history, and the usual
-- delivery costs two inserts and one delete.
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
  -- '-infinity' if resent by hand: before all other deliveries of its endpoint.
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

-- The next delivery of an endpoint. The index is on an expression, so that the planner does not
-- choose the primary key instead.
create index webhook_due_next
  on webhook_due ((endpoint_id || ''), due_at);

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
  -- Serves every list: newest first, all or of one status, and the events that were not delivered.
  primary key (endpoint_id, status, event_created, event_position)
) partition by range (event_created);

create table webhook_deliveries_default partition of webhook_deliveries default;

-- Delivery attempts that failed. The one that succeeded is in the row of its delivery.
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

-- Replays that merchants requested, processed in portions. The cursor (place_created,
-- place_position) names the last queued event, where a replay continues after a crash.
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

-- Deliveries per day, of days that have ended and of which no delivery is pending. A resend or a
-- replay deletes the day's row, under the same lock as its counting.
create table delivery_days (
  endpoint_id text collate "C" not null references webhook_endpoints (id) on delete cascade,
  time_zone text collate "C" not null,
  day date not null,
  delivered integer not null,
  undelivered integer not null,
  primary key (endpoint_id, time_zone, day)
);
