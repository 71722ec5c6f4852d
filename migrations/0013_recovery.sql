-- Recovery: how far each network's ledger was compared with its chain after the database was
-- replaced by a failover, a restored backup or an older copy.
create table network_recoveries (
  livemode boolean primary key,
  status text not null default 'done' check (status in ('done', 'recovering')),
  -- The cluster identity (system, database, timeline) that was last recovered; `null` if a recovery
  -- was never needed.
  cluster_id text,
  -- Incremented by each request for a recovery, so that a running one does not end before a later
  -- request is served.
  request_count bigint not null default 0,
  -- What started it: cluster, nonce, position, reconciliation, command.
  reason text,
  -- Whether rows are known to be lost, and not only possibly lost.
  loss_shown boolean not null default false,
  -- Up to which block this run has read the chain; `null` before it begins.
  read_to bigint,
  -- The first day whose statistics may have changed.
  first_day date,
  -- One process at a time; a write with an older fencing token changes nothing.
  lease_owner text,
  lease_until timestamptz(3),
  fencing_token bigint not null default 0,
  started timestamptz(3),
  finished timestamptz(3),
  payments integer not null default 0,
  refunds integer not null default 0,
  withdrawals integer not null default 0,
  canceled integer not null default 0,
  credentials integer not null default 0,
  -- Up to which block the ledger is known to match the chain; `null` if it was never compared.
  compared_block bigint,
  -- The credentials that a recovery revoked, counted by kind, so that the operator knows whom to
  -- notify.
  ended jsonb not null default '{}',
  -- Nonces of senders, by address, that the chain has and this database does not, found by a
  -- process that has just started and cannot know whether the database was restored. An operator
  -- decides.
  doubt jsonb,
  -- The newest block that a recovery after a loss has read. A refund up to this block belongs to
  -- the lost time, whatever later recoveries find.
  lost_to bigint
);

insert into network_recoveries (livemode) values (false), (true);
