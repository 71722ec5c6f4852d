-- Accounts, their two modes, API keys, test clocks, brands and business verification.
--
-- Ids and hashes compare byte by byte (collate "C"), here and in the other files, so that ids sort
-- by time in every database, whatever its locale.

create table accounts (
  id text collate "C" primary key,
  name text not null,
  status text not null default 'active' check (status in ('active', 'disabled')),
  kyb_status text not null default 'none'
    check (kyb_status in ('none', 'pending', 'approved', 'rejected')),
  refund_window_days integer not null default 180 check (refund_window_days between 0 and 3650),
  refund_daily_limit bigint not null default 10000000000 check (refund_daily_limit >= 0),
  created timestamptz(3) not null,
  -- Counts changes. An edit names the version that it was based on, and an edit of an older version
  -- is refused, so that it does not overwrite a colleague's change. The same in all tables.
  version integer not null default 1,
  disabled_reason text,
  -- The account's days begin at midnight in this zone.
  time_zone text not null default 'UTC',
  -- Of pages and mails for its customers, where their browser names none; `null` for English.
  language text check (language in ('en', 'de', 'fr', 'es', 'pt', 'ja', 'ar')),
  -- Percent of the contract's hourly ceiling that this account may use; `null` for the default.
  ceiling_share integer check (ceiling_share between 1 and 100),
  -- How the shop prices its sales: a currency of ISO 4217 (`null` for USDC), its rates of tax
  -- ({name, rate}, basis points), and whether prices include tax.
  currency text collate "C" check (currency ~ '^[a-z]{3}$'),
  tax_rates jsonb not null default '[]',
  prices_include_tax boolean not null default true,
  -- The shop's details on receipts.
  legal_name text,
  address text,
  tax_number text,
  -- The address of the service that signs receipts; `null` if there is none.
  fiscal_signer text,
  -- At the end of which periods the balance is paid out by itself, and statements are sent:
  -- {every, format, email}. `null` for none.
  automatic_payout text check (automatic_payout in ('daily', 'weekly')),
  export_schedule jsonb,
  -- True if tills call it, in their own network.
  fiscal_by_terminal boolean not null default false,
  check (fiscal_signer is not null or not fiscal_by_terminal)
);

create index accounts_automatic_payout on accounts (id) where automatic_payout is not null;
create index accounts_export_schedule on accounts (id) where export_schedule is not null;

create index accounts_ceiling_share on accounts (id) where ceiling_share is not null;

-- One row per account and mode. It holds
-- * what the settlement contract of the mode's network knows about the merchant;
-- * the commit order of everything that the account lists. A transaction that inserts listed rows
--   locks this row as its last lock, increments `position`, and sets `created` no earlier than the
--   row before. So position, `created` and commit have one order: a client that polls with
--   created_gte misses no row that was committed later (without the lock 5,816 of 9,765 rows were
--   missed under load), and pagination by `position` skips and repeats nothing.
-- fillfactor: every transaction of the account updates the row in place.
create table account_modes (
  account_id text collate "C" not null references accounts (id),
  livemode boolean not null,
  position bigint not null default 0,
  stamped_at timestamptz(3) not null default '-infinity',
  merchant_number bigint,
  settlement_wallet text,
  live_at timestamptz(3),
  -- How far the test clock is ahead; 0 in live mode. `created` and other times of what happened
  -- follow the test clock. Deadlines are stored by the service's clock, so that workers compare
  -- them with one time; the API shows them `ahead_seconds` later.
  ahead_seconds bigint not null default 0,
  primary key (account_id, livemode),
  check ((merchant_number is null) = (live_at is null))
) with (fillfactor = 20, autovacuum_vacuum_threshold = 200, autovacuum_vacuum_scale_factor = 0);

alter table account_modes add constraint account_modes_live_clock_is_real
  check (not livemode or ahead_seconds = 0) not valid;

create unique index account_modes_merchant on account_modes (livemode, merchant_number);

create table api_keys (
  id text collate "C" primary key,
  account_id text collate "C" not null references accounts (id),
  livemode boolean not null,
  hash bytea not null unique,
  -- The part of the key that the dashboard shows: its prefix and its last four characters.
  hint text not null,
  name text not null,
  scopes text[] not null,
  -- Addresses or CIDR ranges; empty allows every address.
  ip_allowlist text[] not null default '{}',
  api_version text not null,
  created timestamptz(3) not null,
  expires_at timestamptz(3),
  revoked_at timestamptz(3),
  last_used_at timestamptz(3),
  version integer not null default 1,
  created_by text,
  -- The key that this one replaces.
  rotated_from text collate "C" references api_keys (id)
);

create index api_keys_account on api_keys (account_id, livemode, created desc);

-- By how much a test account has advanced its clock. No code reads the time from here: advancing
-- the clock brings every test-mode deadline of the account forward by the same span, so workers and
-- rules need only the one clock.
create table test_clocks (
  account_id text collate "C" primary key references accounts (id),
  advanced_seconds bigint not null check (advanced_seconds >= 0)
);

-- A merchant's logo and color, which payers see beside its name.
create table brand_logos (
  -- The first 32 hex digits of the SHA-256 of account and content; part of the logo's URL.
  id text primary key check (id ~ '^[0-9a-f]{32}$'),
  account_id text not null references accounts (id),
  -- A PNG.
  content bytea not null check (octet_length(content) <= 102400),
  created timestamptz(3) not null
);
create index on brand_logos (account_id);

create table account_brands (
  account_id text primary key references accounts (id),
  color text check (color ~ '^[0-9a-f]{6}$'),
  logo_id text references brand_logos (id),
  -- The name of the style sheet, which states all of its content.
  style text not null generated always as
    (coalesce(color, 'none') || '-' || coalesce(logo_id, 'none')) stored,
  updated timestamptz(3) not null,
  check (color is not null or logo_id is not null)
);

-- A new name that awaits an operator's approval. Payers trust a verified business by its name, so
-- the old name stays until then.
create table account_name_requests (
  account_id text collate "C" primary key references accounts (id),
  name text not null,
  requested_by text collate "C" not null,
  created timestamptz(3) not null
);

-- Business verification (KYB): the merchant's statements, edited as a whole, and the decision.
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
