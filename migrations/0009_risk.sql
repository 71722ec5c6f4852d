-- What an account's risk policy says, per mode. No row: the defaults of src/risk/settings.ts.
-- A limit that is null switches its rule off.

create table risk_settings (
  account_id text collate "C" not null references accounts (id),
  livemode boolean not null,
  -- FIRST_MERCHANT_PAYMENT and HIGH_AMOUNT: atoms from which the payer has to confirm.
  first_payment_confirm_from bigint check (first_payment_confirm_from >= 0),
  high_amount_confirm_from bigint check (high_amount_confirm_from >= 0),
  -- VELOCITY: payments of one payer at this account within an hour; one more is declined.
  velocity_per_hour integer check (velocity_per_hour > 0),
  -- Counts changes: an edit names the version that it saw.
  version integer not null default 1,
  updated timestamptz(3) not null,
  primary key (account_id, livemode)
);

-- BLOCKED_PAYER: wallets that this account does not sell to.
create table risk_blocked_payers (
  account_id text collate "C" not null references accounts (id),
  livemode boolean not null,
  -- Checksummed EVM address: it may be blocked before its owner is a payer here.
  address text collate "C" not null,
  note text not null default '',
  created timestamptz(3) not null,
  primary key (account_id, livemode, address)
);

-- Sums over one payer: what is settled, and what is on its way. The second index holds only
-- attempts that are under way, so it stays small.
create index payments_payer_account on payments (payer_id, account_id, settled_at);
create index payment_intents_under_way on payment_intents ((attempt ->> 'payerId'))
  where status in ('requires_action', 'processing');
