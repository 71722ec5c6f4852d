-- The audit log: who changed what. One hash chain per account, and one (`network`) for the network
-- itself.
--
-- Rows are only added. The trigger also binds the table's owner, and the hash of each row covers
-- the row before, so that a change made around the trigger is detectable.
create table audit_log (
  chain text collate "C" not null,
  sequence bigint not null,
  created timestamptz(3) not null,
  actor jsonb not null,
  action text not null,
  object_id text collate "C" not null,
  livemode boolean,
  before jsonb,
  after jsonb,
  request_id text,
  address text,
  previous_hash bytea not null,
  hash bytea not null,
  primary key (chain, sequence)
);

create index audit_log_created on audit_log (chain, created);
create index audit_log_object on audit_log (chain, object_id, sequence);
-- All actions of one user, for the export of that user's data.
create index audit_log_actor on audit_log ((actor ->> 'user'), created);

create function audit_log_is_append_only() returns trigger language plpgsql as $$
begin
  raise exception 'the audit log is append-only';
end $$;

create trigger audit_log_no_change before update or delete on audit_log
  for each row execute function audit_log_is_append_only();
create trigger audit_log_no_truncate before truncate on audit_log
  for each statement execute function audit_log_is_append_only();

-- Where the role `tapline_app` was made before the first start, its default privileges
-- (docs/operate.md, section 3) cover the audit log too. It may only add to that table.
do $$
begin
  if exists (select from pg_roles where rolname = 'tapline_app') then
    revoke update, delete, truncate on audit_log from tapline_app;
  end if;
end
$$;

-- Anchors: once a day a process records the newest hash of each chain outside of the database.
-- One row: the last day (UTC) that was anchored, and until when a process has claimed the next one.
create table audit_anchor_state (
  one boolean primary key default true check (one),
  anchored_day date not null,
  claimed_until timestamptz(3) not null
);
insert into audit_anchor_state (anchored_day, claimed_until) values ('2000-01-01', '2000-01-01Z');

-- The last anchored hash of each chain, which tells only what has changed since. The proof is the
-- copy outside of the database.
create table audit_anchors (
  chain text collate "C" primary key,
  sequence bigint not null,
  hash bytea not null,
  anchored_at timestamptz(3) not null
);
