-- Payouts: withdrawals, going live, the settlement wallet, and holds by owners.

-- A withdrawal reserves its amount before it becomes a settlement job.
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
  requested_by text not null,
  -- The contract pays each number once; `null` if it was requested without one.
  number bigint check (number > 0),
  -- Rebuilt from the chain after the database had lost the row.
  recovered boolean not null default false,
  -- The first day of the period at whose end the service has requested it by itself. Its number is
  -- derived from the period; `null` if a person has requested it.
  period text collate "C" check (period ~ '^\d{4}-\d{2}-\d{2}$')
);

create index withdrawals_list on withdrawals (account_id, livemode, created, position);
create unique index withdrawals_number on withdrawals (livemode, number) where number is not null;
-- Withdrawals since the last reconciliation run.
create index withdrawals_changed on withdrawals (livemode, updated) where status = 'succeeded';

-- Going live on a network: the wallet's consent, and the result of the registration on the chain.
create table go_live_requests (
  id text collate "C" primary key,
  account_id text collate "C" not null references accounts (id),
  livemode boolean not null,
  wallet text not null,
  status text not null check (status in ('pending', 'succeeded', 'failed')),
  failure_reason text,
  tx_hash text,
  requested_by text collate "C" not null,
  created timestamptz(3) not null,
  updated timestamptz(3) not null,
  -- The contract's version (settlement_contracts). An account goes live once on each contract.
  contract_version integer not null default 0
);

create unique index go_live_requests_once on go_live_requests
  (account_id, livemode, contract_version)
  where status <> 'failed';

-- A first settlement wallet that an admin has prepared and an owner has yet to confirm. One per
-- mode; a new one replaces it.
create table go_live_preparations (
  account_id text collate "C" not null references accounts (id),
  livemode boolean not null,
  wallet text not null,
  deadline bigint not null,
  signature text not null,
  prepared_by text collate "C" not null,
  created timestamptz(3) not null,
  primary key (account_id, livemode)
);

-- Changes of the settlement wallet. The contract decides which wallet a merchant has and which one
-- is announced; these rows follow it.
create table wallet_changes (
  id text collate "C" primary key,
  account_id text collate "C" not null references accounts (id),
  livemode boolean not null,
  wallet text not null,
  previous_wallet text not null,
  status text not null check (status in ('pending', 'announced', 'applied', 'canceled', 'failed')),
  applicable_at timestamptz(3),
  failure_reason text,
  requested_by text collate "C" not null,
  created timestamptz(3) not null,
  updated timestamptz(3) not null,
  -- How long the contract makes a new wallet wait, read when the change was requested.
  delay_seconds integer not null default 0,
  -- The account may be registered on several contracts.
  merchant_number bigint
);

-- Another wallet may be announced on the contract while the service still requests this one.
create unique index wallet_changes_open
  on wallet_changes (account_id, livemode, merchant_number, status)
  where status in ('pending', 'announced');
create index wallet_changes_due on wallet_changes (applicable_at) where status = 'announced';

-- Changes of an account's owners. Each owner is notified by e-mail, with a link that holds payouts.
create table owner_changes (
  id text collate "C" primary key,
  account_id text collate "C" not null references accounts (id),
  kind text not null
    check (kind in ('invited', 'joined', 'promoted', 'demoted', 'removed', 'left')),
  -- The user whose ownership changes.
  email text collate "C" not null,
  changed_by text collate "C" not null,
  created timestamptz(3) not null
);

create index owner_changes_account on owner_changes (account_id, created desc);

-- Links that hold payouts, one per recipient, single use. A link is about a change of owners, or
-- about a wallet that is announced for a merchant; it then also cancels that wallet on the
-- contract.
create table payout_hold_links (
  hash bytea primary key,
  change_id text collate "C" references owner_changes (id),
  account_id text collate "C" not null references accounts (id),
  email text collate "C" not null,
  created timestamptz(3) not null,
  expires_at timestamptz(3) not null,
  used_at timestamptz(3),
  livemode boolean,
  merchant_number bigint,
  wallet text,
  constraint payout_hold_links_about check (
    (change_id is null) = (wallet is not null)
    and (wallet is null) = (livemode is null)
    and (wallet is null) = (merchant_number is null))
);

create index payout_hold_links_expires on payout_hold_links (expires_at);

-- While an account has an open hold, the service pays nothing out, until an owner lifts it.
create table payout_holds (
  id text collate "C" primary key,
  account_id text collate "C" not null references accounts (id),
  -- `null` if the hold came from another link than that of a change of owners.
  change_id text collate "C" references owner_changes (id),
  held_by text collate "C" not null,
  created timestamptz(3) not null,
  lifted_at timestamptz(3),
  lifted_by text collate "C"
);

create unique index payout_holds_open on payout_holds (account_id) where lifted_at is null;

-- What changed a merchant's balance on the contract besides sales, whose entries are their rows in
-- payments: refunds and payouts once the chain has paid them, payments that a recovery has booked,
-- and corrections. Rows are only added, and never before the newest closing of their account and
-- mode, so an exported period does not change.
create table balance_entries (
  account_id text collate "C" not null,
  livemode boolean not null,
  -- The account's time of the entry, and its position in the account's order.
  created timestamptz(3) not null,
  position bigint not null check (position > 0),
  -- A correction names the object that differs: the entry belongs to a period that was exported.
  type text not null check (type in ('payment', 'refund', 'payout', 'correction')),
  object_id text collate "C" not null,
  -- Negative if it left the balance.
  amount bigint not null check (amount <> 0),
  primary key (account_id, livemode, created, position),
  check (type = 'correction' or (type = 'payment') = (amount > 0))
);

create unique index balance_entries_object on balance_entries (object_id, type)
  where type <> 'correction';
-- All entries of an object, with its corrections.
create index balance_entries_of on balance_entries (object_id);

-- Balances that a statement has named, at the end of a period that had ended, or at its beginning.
-- The next statement continues from there.
create table statement_closings (
  account_id text collate "C" not null,
  livemode boolean not null,
  at timestamptz(3) not null,
  balance bigint not null,
  primary key (account_id, livemode, at)
);

-- The ends of days and weeks at which a balance was to be paid out by itself, each once. `waiting`:
-- the chain could not be reached, and the service tries again until the next period ends.
create table automatic_payouts (
  account_id text collate "C" not null,
  livemode boolean not null,
  every text not null check (every in ('daily', 'weekly')),
  -- The first day of the period.
  period text collate "C" not null check (period ~ '^\d{4}-\d{2}-\d{2}$'),
  status text not null check (status in ('requested', 'skipped', 'waiting')),
  -- Why nothing was paid.
  reason text,
  withdrawal_id text collate "C" references withdrawals (id),
  updated timestamptz(3) not null,
  primary key (account_id, livemode, every, period),
  check ((status = 'requested') = (withdrawal_id is not null)),
  check ((status = 'requested') = (reason is null))
);

-- The statements of periods that have ended, each announced once. The link's token is random; only
-- its hash is kept. `null` for a period that had ended before the schedule was set.
create table scheduled_exports (
  account_id text collate "C" not null,
  livemode boolean not null,
  every text not null check (every in ('day', 'week', 'month')),
  from_day text collate "C" not null,
  to_day text collate "C" not null,
  -- The zone of these days.
  time_zone text not null,
  format text not null,
  token_hash bytea unique,
  -- By the account's clock.
  expires_at timestamptz(3),
  primary key (account_id, livemode, every, from_day),
  check ((token_hash is null) = (expires_at is null))
);
