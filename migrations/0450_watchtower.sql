-- What the watchtower has read, what it found that no row explains, and what it does about it.
create table watch_cursors (
  livemode boolean primary key,
  next_block bigint not null,
  -- Of any watchtower: a look that could judge.
  looked_at timestamptz(3) not null
);

create table watch_findings (
  livemode boolean not null,
  tx_hash text collate "C" not null,
  log_index integer not null,
  kind text not null check (kind in ('payment', 'refund', 'withdrawal')),
  amount bigint not null,
  -- Two addresses named it, each by itself.
  confirmed boolean not null,
  found timestamptz(3) not null,
  primary key (livemode, tx_hash, log_index)
);

create index watch_findings_found on watch_findings (livemode, found);

create table watch_steps (
  id bigint generated always as identity primary key,
  livemode boolean not null,
  step text not null check (step in ('pause_settling', 'pause_refunding', 'cancel_wallet')),
  -- Of cancel_wallet; otherwise 0.
  merchant_number bigint not null,
  -- The event that asks for it. One step for each, once: what people undo stays undone.
  reason text collate "C" not null,
  created timestamptz(3) not null,
  tries integer not null default 0,
  done_at timestamptz(3),
  unique (livemode, step, merchant_number, reason)
);

create index watch_steps_open on watch_steps (livemode) where done_at is null;
