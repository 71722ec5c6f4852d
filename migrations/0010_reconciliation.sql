-- What reconciliation has read from the chain, how far it has come, and what it found.

-- Refunds and withdrawals as the contract's events tell them (payments: chain_payments).
create table chain_transfers (
  livemode boolean not null,
  tx_hash text collate "C" not null,
  log_index integer not null,
  kind text not null check (kind in ('refund', 'withdrawal')),
  -- Refund: the payment's number. Withdrawal: its own, 0 when the wallet called by itself.
  number bigint not null,
  -- Refund: its index among the refunds of the payment.
  refund_index bigint,
  merchant_number bigint not null,
  recipient text collate "C" not null,
  amount bigint not null,
  block_number bigint not null,
  block_time timestamptz(3) not null,
  primary key (livemode, tx_hash, log_index),
  check ((kind = 'refund') = (refund_index is not null))
);

create index chain_transfers_block on chain_transfers (livemode, block_number);
create index chain_payments_block on chain_payments (livemode, block_number);
create index payments_block on payments (livemode, block_number);

-- One row per network. Everything below next_block is read and final.
create table reconciliation_cursors (
  livemode boolean primary key,
  next_block bigint not null,
  updated timestamptz(3) not null
);

-- What each merchant has by its events below next_block, so that a run adds only what is new.
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
  -- The payment, refund, withdrawal, settlement number or merchant that it is about.
  subject text collate "C" not null,
  details jsonb not null,
  first_seen timestamptz(3) not null,
  last_seen timestamptz(3) not null,
  -- A person knows of it and lives with it: it stays a row, but is no alarm any more.
  accepted_at timestamptz(3),
  -- Set by the run that did not find it any more.
  resolved_at timestamptz(3)
);

create unique index reconciliation_differences_open
  on reconciliation_differences (livemode, kind, subject) where resolved_at is null;
