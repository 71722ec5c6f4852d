-- The request log: one row per answered request, kept for 30 days, for a merchant's developer to
-- look up. Rows are written in batches after the responses, without waiting for the disk: a crash
-- may lose the last fraction of a second of them, and never a payment.
--
-- Most requests are reads, which are looked up by time only, so they cost one index. Changes can
-- also be found by their object, and failures by their status. A request id begins with its time,
-- which leads to the row by the same index.
create table request_log (
  id text collate "C" not null,
  created timestamptz(3) not null,
  -- `null` if the caller is unknown.
  account_id text collate "C",
  livemode boolean,
  -- The API key, the terminal or the user.
  caller_id text collate "C",
  -- `null` if no operation has this path.
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

-- The first days. A worker creates later ones in advance (src/events/event-retention.ts).
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
