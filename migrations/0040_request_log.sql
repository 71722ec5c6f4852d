-- One row per answered request, kept for 30 days: what a merchant's developer looks up when
-- something went wrong. Written in batches after the answers, without waiting for the disk: a
-- crash may lose the last fraction of a second of it, never a payment.
--
-- Reads are most of all requests and are looked up by time only, so one index is all they cost;
-- changes can also be found by their object, failures by their status. A request id begins with
-- its time, which leads to the row through the same index.

create table request_log (
  id text collate "C" not null,
  created timestamptz(3) not null,
  -- null: the caller was not known.
  account_id text collate "C",
  livemode boolean,
  -- The API key, terminal or person.
  caller_id text collate "C",
  -- null: there was no such path.
  operation text,
  method text not null,
  path text not null,
  status integer not null,
  -- The error code.
  code text,
  object_id text collate "C",
  idempotency_key text,
  api_version text not null,
  duration_ms real not null,
  address text not null,
  user_agent text
) partition by range (created);

create index request_log_account on request_log (account_id, livemode, created);
create index request_log_failures on request_log (account_id, livemode, status, created)
  where status >= 400;
create index request_log_object on request_log (account_id, object_id, created)
  where method <> 'GET' and object_id is not null;

create table request_log_default partition of request_log default;

-- The first days; a worker makes the next ones ahead of time (src/events/retention.ts).
do $$
declare
  day date;
begin
  for ahead in -1..7 loop
    day := (now() at time zone 'UTC')::date + ahead;
    execute format(
      'create table %I partition of request_log for values from (%L) to (%L)',
      'request_log_' || to_char(day, 'YYYYMMDD'),
      day || ' 00:00:00+00', (day + 1) || ' 00:00:00+00');
  end loop;
end
$$;
