-- Reconciliation: how far the ledger was compared with the chain, and the differences. What was
-- read from the chain is in chain_payments and chain_transfers.

-- One row per network. Everything below next_block has been read and is final.
create table reconciliation_cursors (
  livemode boolean primary key,
  next_block bigint not null,
  updated timestamptz(3) not null,
  -- Up to which block and time refunds and withdrawals were compared, so that a run reads only
  -- later changes; `null` to compare all.
  compared_block bigint,
  compared_at timestamptz(3),
  -- Contract events before this block are older than the service and raise no alarm. Set once, when
  -- an empty ledger first reads the chain; 0 if every event counts.
  watched_from bigint not null default 0
);

-- Each merchant's balance by its events below next_block, so that a run adds only new ones.
create table reconciliation_balances (
  livemode boolean not null,
  merchant_number bigint not null,
  balance bigint not null,
  primary key (livemode, merchant_number)
);

create table reconciliation_differences (
  id bigint generated always as identity primary key,
  livemode boolean not null,
  kind text not null,
  -- The payment, refund, withdrawal, settlement number or merchant that differs.
  subject text collate "C" not null,
  details jsonb not null,
  first_seen timestamptz(3) not null,
  last_seen timestamptz(3) not null,
  -- An operator has accepted the difference: the row stays, and no longer raises an alarm.
  accepted_at timestamptz(3),
  -- Set by the first run that no longer finds the difference.
  resolved_at timestamptz(3)
);

create unique index reconciliation_differences_open
  on reconciliation_differences (livemode, kind, subject) where resolved_at is null;
