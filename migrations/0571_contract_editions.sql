-- A network may have several settlement contracts at a time: the one that merchants and payers join,
-- and those before it, where what was paid is refunded and withdrawn (docs/decisions/editions.md). A
-- merchant number says which contract it is of: those of edition n begin above n * 2^32.
create table settlement_contracts (
  livemode boolean not null,
  -- 0: the first contract of the network.
  edition integer not null check (edition >= 0),
  settlement text collate "C" not null,
  -- Its events from before the service knew it have been read.
  read boolean not null default false,
  primary key (livemode, edition)
);

-- Whom accounts were on former contracts.
create table former_merchants (
  livemode boolean not null,
  merchant_number bigint not null,
  account_id text collate "C" not null references accounts (id),
  settlement_wallet text,
  -- Intents of the account up to this place in its order settle there.
  until_position bigint not null,
  moved_at timestamptz(3) not null,
  primary key (livemode, merchant_number)
);

create index former_merchants_account on former_merchants (account_id, livemode);

-- Every number that an account has or had.
create view merchant_accounts as
  select livemode, merchant_number, account_id, settlement_wallet
  from account_modes where merchant_number is not null
  union all
  select livemode, merchant_number, account_id, settlement_wallet from former_merchants;

-- How many contracts of its network a worker knows. Nobody moves to one that a worker would not
-- understand, such as one that still runs with the settings of before.
alter table relayer_workers add column contracts integer not null default 1;

-- An account goes live once on each contract.
alter table go_live_requests add column edition integer not null default 0;
create unique index go_live_requests_once on go_live_requests (account_id, livemode, edition)
  where status <> 'failed';
drop index go_live_requests_open;
