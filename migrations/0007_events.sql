-- Events, webhook endpoints and deliveries.
--
-- `body` is the event as it is delivered and as GET /v1/events/{id} returns it, byte for byte.
-- Events and deliveries are partitioned by day of `created`: retention drops partitions instead
-- of deleting rows. (An event's id begins with its `created`, so that a look-up by id finds its
-- partition.) The default partitions catch what maintenance has not prepared for.

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
  enabled_events text[] not null,
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
  check ((previous_secret is null) = (previous_secret_until is null))
);

create index webhook_endpoints_account on webhook_endpoints (account_id, livemode, created);

create table webhook_deliveries (
  id text collate "C" not null,
  account_id text collate "C" not null,
  livemode boolean not null,
  endpoint_id text collate "C" not null,
  event_id text collate "C" not null,
  event_type text not null,
  created timestamptz(3) not null,
  updated timestamptz(3) not null,
  status text not null check (status in ('pending', 'succeeded', 'failed')),
  attempt integer not null default 0,
  response_status integer,
  response_body text,
  error text,
  duration_ms integer,
  next_attempt_at timestamptz(3),
  primary key (id, created)
) partition by range (created);

create index webhook_deliveries_list on webhook_deliveries (endpoint_id, created, id);
create index webhook_deliveries_event on webhook_deliveries (event_id);
create table webhook_deliveries_default partition of webhook_deliveries default;

-- The work that is due: a small hot table beside the history.
create table webhook_due (
  delivery_id text collate "C" primary key,
  endpoint_id text collate "C" not null,
  created timestamptz(3) not null,
  due_at timestamptz(3) not null,
  lease_until timestamptz(3),
  fence bigint not null default 0
) with (
  fillfactor = 50,
  autovacuum_vacuum_scale_factor = 0,
  autovacuum_vacuum_threshold = 500
);

create index webhook_due_endpoint on webhook_due (endpoint_id, due_at);
