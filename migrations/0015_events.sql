-- Events, and the connections that stream them.
--
-- Events, finished deliveries and delivery attempts (0016_webhooks.sql) are partitioned by the UTC
-- day of the event. Retention drops a day of all three instead of deleting rows, and an id, which
-- begins with that time, leads to its partition. Workers create the partitions of the coming days
-- (src/events/event-retention.ts). The default partitions hold the first day, and all rows whose
-- partition is missing, so that no event is ever refused.

create table events (
  id text collate "C" not null,
  account_id text collate "C" not null,
  livemode boolean not null,
  position bigint not null,
  created timestamptz(3) not null,
  type text not null,
  object_id text collate "C" not null,
  -- The event as it is delivered and as GET /v1/events/{id} returns it, byte for byte.
  body text not null,
  primary key (id, created)
) partition by range (created);

create table events_default partition of events default;

create index events_list on events (account_id, livemode, created, position);
-- Partitions name this index after the parent's, as buildConcurrently (src/db/long-migrations.ts)
-- does: the parent's index takes over an equal one of the partition.
create index events_default_events_type
  on events_default (type, account_id, livemode, created, position);
create index events_type on events (type, account_id, livemode, created, position);

-- Open event streams per API key, across all processes. Unlogged: a slot is a lease of seconds, and
-- after a crash of the database all connections are closed.
create unlogged table event_stream_slots (
  key_id text collate "C" not null,
  slot smallint not null check (slot between 1 and 20),
  held_until timestamptz(3) not null,
  primary key (key_id, slot)
);
