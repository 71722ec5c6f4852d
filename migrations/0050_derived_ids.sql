-- Ids, order ids and references that can be computed again, so that a database that has lost its
-- newest rows gets them back from the chain under the ids that merchants know.

-- Random keys that are made at the first start: sealed under the service's secret, and in every
-- backup. `ids` is what ids are derived under.
create table service_keys (
  name text primary key,
  sealed bytea not null,
  created timestamptz(3) not null default now()
);

-- Drawn when the intent is created. Null: created by an earlier release, which draws at the tap.
alter table payment_intents add column settlement_number bigint check (settlement_number > 0);
create unique index payment_intents_settlement_number
  on payment_intents (livemode, settlement_number) where settlement_number is not null;

-- What the contract's event names the refund by. Null: made by an earlier release.
alter table refunds add column reference bytea check (octet_length(reference) = 16);
create unique index refunds_reference on refunds (livemode, reference)
  where reference is not null;

-- What the contract pays the withdrawal by, once. Null: made by an earlier release.
alter table withdrawals add column number bigint check (number > 0);
create unique index withdrawals_number on withdrawals (livemode, number) where number is not null;

-- Rebuilt from the chain, because the database had lost it.
alter table payment_intents add column recovered boolean not null default false;
alter table payments add column recovered boolean not null default false;
alter table refunds add column recovered boolean not null default false;
alter table withdrawals add column recovered boolean not null default false;
