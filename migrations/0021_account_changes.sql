-- What people change about an account, its keys and its terminals. `version` counts changes:
-- an edit names the version that it saw, and a stale one is refused instead of undoing another's.

alter table accounts add column version integer not null default 1;
alter table accounts add column disabled_reason text;

alter table terminals add column version integer not null default 1;

alter table api_keys add column version integer not null default 1;
alter table api_keys add column created_by text;
-- The key that this one was made to replace.
alter table api_keys add column rotated_from text collate "C" references api_keys (id);

-- A terminal that can be typed into gets its device key for this code. Valid for minutes, once.
create table pairing_codes (
  hash bytea primary key,
  terminal_id text collate "C" not null references terminals (id),
  created timestamptz(3) not null,
  expires_at timestamptz(3) not null,
  used_at timestamptz(3)
);

create index pairing_codes_terminal on pairing_codes (terminal_id);

-- Business verification: what the merchant says (edited as a whole) and what was decided.
create table kyb_submissions (
  account_id text collate "C" primary key references accounts (id),
  version integer not null default 1,
  details jsonb not null,
  submitted_at timestamptz(3),
  decided_at timestamptz(3),
  decided_by text collate "C",
  decision_reason text,
  updated timestamptz(3) not null
);

create index kyb_submissions_queue on kyb_submissions (submitted_at)
  where submitted_at is not null and decided_at is null;

create table kyb_documents (
  id text collate "C" primary key,
  account_id text collate "C" not null references accounts (id),
  kind text not null,
  file_name text not null,
  content_type text not null,
  size integer not null,
  sha256 text not null,
  -- Encrypted, bound to the id.
  content bytea not null,
  uploaded_by text collate "C" not null,
  created timestamptz(3) not null
);

create index kyb_documents_account on kyb_documents (account_id, created);

-- Going live on a network: the wallet's consent, and what the chain made of it.
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
  updated timestamptz(3) not null
);

create unique index go_live_requests_open on go_live_requests (account_id, livemode)
  where status <> 'failed';

-- A change of the settlement wallet: announced here and on the chain, waits, then applies.
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
  updated timestamptz(3) not null
);

create unique index wallet_changes_open on wallet_changes (account_id, livemode)
  where status in ('pending', 'announced');
