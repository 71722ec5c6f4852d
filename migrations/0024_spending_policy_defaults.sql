-- What the payer app proposes when a wallet signs its spending policy, per network. A proposal
-- only: the payer signs what it wants, and the contract holds to what was signed.
create table spending_policy_defaults (
  livemode boolean primary key,
  -- Atoms.
  per_payment bigint not null check (per_payment between 1 and 1000000000000),
  per_period bigint not null check (per_period >= per_payment),
  period_seconds integer not null check (period_seconds >= 3600),
  valid_days integer not null check (valid_days between 1 and 3650),
  -- Basis points of acquirer and protocol fee together.
  max_fee_rate integer not null check (max_fee_rate between 0 and 300),
  version integer not null default 1,
  updated timestamptz(3) not null
);
