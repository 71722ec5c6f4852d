-- Risk policies, per account and mode. Without a row the defaults of src/risk/risk-settings.ts
-- hold. A limit of `null` disables its rule.
create table risk_settings (
  account_id text collate "C" not null references accounts (id),
  livemode boolean not null,
  -- FIRST_MERCHANT_PAYMENT and HIGH_AMOUNT: the payer confirms from this amount (atoms) on.
  first_payment_confirm_from bigint check (first_payment_confirm_from >= 0),
  high_amount_confirm_from bigint check (high_amount_confirm_from >= 0),
  -- VELOCITY: how many payments a payer may make at this account within an hour.
  velocity_per_hour integer check (velocity_per_hour > 0),
  version integer not null default 1,
  updated timestamptz(3) not null,
  primary key (account_id, livemode)
);

-- BLOCKED_PAYER: wallets that this account does not accept.
create table risk_blocked_payers (
  account_id text collate "C" not null references accounts (id),
  livemode boolean not null,
  -- Checksummed EVM address. It may be blocked before its owner becomes a payer here.
  address text collate "C" not null,
  note text not null default '',
  created timestamptz(3) not null,
  primary key (account_id, livemode, address)
);

-- Confirmations that payers declined, per merchant. They limit how often a merchant may ask a payer
-- who keeps declining. Rows are kept for an hour of the account's clock.
create table payer_refusals (
  account_id text collate "C" not null,
  livemode boolean not null,
  payer_id text collate "C" not null,
  refused_at timestamptz(3) not null
);

create index payer_refusals_of_payer
  on payer_refusals (account_id, livemode, payer_id, refused_at);
create index payer_refusals_of_account on payer_refusals (account_id, livemode, refused_at);
