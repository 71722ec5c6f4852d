-- Payers: a wallet on one network, its passes, its own limits. The spending policy and the
-- allowance live on the chain; what is here only ever narrows them.

create table payers (
  id text collate "C" primary key,
  livemode boolean not null,
  -- Checksummed EVM address.
  address text collate "C" not null,
  created timestamptz(3) not null,
  -- Set by an operator: every tap is declined as risk_blocked.
  blocked_at timestamptz(3),
  limit_per_payment bigint check (limit_per_payment > 0),
  limit_per_day bigint check (limit_per_day > 0),
  -- The payer's own wish to confirm each first payment at a merchant, whatever its amount.
  confirm_first_payment boolean not null default false,
  unique (livemode, address)
);

create table passes (
  id text collate "C" primary key,
  payer_id text collate "C" not null references payers (id),
  hash bytea not null unique,
  label text not null default '',
  created timestamptz(3) not null,
  revoked_at timestamptz(3)
);

create index passes_payer on passes (payer_id, created desc);
