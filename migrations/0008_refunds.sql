-- Refunds and withdrawals: both reserve in the database first, then ask the chain.

create table refunds (
  id text collate "C" primary key,
  account_id text collate "C" not null,
  livemode boolean not null,
  position bigint not null,
  created timestamptz(3) not null,
  updated timestamptz(3) not null,
  payment_id text collate "C" not null references payments (id),
  amount bigint not null check (amount between 1 and 1000000000000),
  status text not null check (status in ('pending', 'succeeded', 'failed')),
  reason text,
  failure_code text,
  failure_message text,
  tx_hash text collate "C",
  source text not null check (source in ('api', 'terminal', 'dashboard')),
  metadata jsonb not null,
  check ((status = 'failed') = (failure_code is not null))
);

create index refunds_list on refunds (account_id, livemode, created, position);
create index refunds_list_payment on refunds (account_id, livemode, payment_id, created, position);
create index refunds_list_status on refunds (account_id, livemode, status, created, position);

create table withdrawals (
  id text collate "C" primary key,
  account_id text collate "C" not null,
  livemode boolean not null,
  position bigint not null,
  created timestamptz(3) not null,
  updated timestamptz(3) not null,
  amount bigint not null check (amount > 0),
  wallet text collate "C" not null,
  status text not null check (status in ('pending', 'succeeded', 'failed')),
  failure_code text,
  tx_hash text collate "C",
  requested_by text not null
);

create index withdrawals_list on withdrawals (account_id, livemode, created, position);
