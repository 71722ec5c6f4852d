-- The watchtower: how far it has read the contract's events, what it found that no row explains,
-- and what it does about it. Its database role writes to these tables (deploy/watch/role.sql).

create table watch_cursors (
  livemode boolean primary key,
  next_block bigint not null,
  -- The last poll of any watchtower that could read and verify the chain.
  looked_at timestamptz(3) not null
);

create table watch_findings (
  livemode boolean not null,
  tx_hash text collate "C" not null,
  log_index integer not null,
  kind text not null check (kind in ('payment', 'refund', 'withdrawal')),
  amount bigint not null,
  -- Two providers reported the event independently.
  confirmed boolean not null,
  found timestamptz(3) not null,
  -- The merchant whose money moved, and when its owners were notified: at most once a day per
  -- account, because a thief may settle every second.
  account_id text collate "C",
  owners_notified_at timestamptz(3),
  primary key (livemode, tx_hash, log_index)
);

create index watch_findings_found on watch_findings (livemode, found);
create index watch_findings_notified on watch_findings (account_id, owners_notified_at)
  where owners_notified_at is not null;

create table watch_steps (
  id bigint generated always as identity primary key,
  livemode boolean not null,
  step text not null check (step in ('pause_settling', 'pause_refunding', 'cancel_wallet')),
  -- Of cancel_wallet; otherwise 0.
  merchant_number bigint not null,
  -- The event that causes the step. Each event causes a step once, so that an operator can undo it.
  reason text collate "C" not null,
  created timestamptz(3) not null,
  tries integer not null default 0,
  done_at timestamptz(3),
  unique (livemode, step, merchant_number, reason)
);

create index watch_steps_open on watch_steps (livemode) where done_at is null;
