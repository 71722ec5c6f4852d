-- How much of the contract's hourly ceiling is used, and by whom.

-- As workers last read it from the contract; null: nobody has read it yet.
alter table network_states
  add column ceiling_per_hour bigint,
  add column ceiling_settled bigint,
  -- The contract's hour in which so much had settled.
  add column ceiling_hour timestamptz(3);

-- One row per account and network: the last hour in which it sold, and how much in that hour.
create table ceiling_uses (
  livemode boolean not null,
  account_id text collate "C" not null,
  hour timestamptz(3) not null,
  amount bigint not null check (amount > 0),
  primary key (livemode, account_id)
) with (fillfactor = 50);

-- Percent of the hour that this account may use; null: as for all.
alter table accounts add column ceiling_share integer check (ceiling_share between 1 and 100);
create index accounts_ceiling_share on accounts (id) where ceiling_share is not null;

-- What an account has under way. An expression, so that no index of all intents seems to serve it.
create index payment_intents_settling on payment_intents ((account_id || ''))
  where status = 'processing';
