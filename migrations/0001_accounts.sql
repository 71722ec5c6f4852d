-- Accounts, their two modes, and the keys that open them.
--
-- Ids and secrets' hashes compare byte by byte (collate "C"): ids are in time order that way, in
-- any database, whatever its locale.

create table accounts (
  id text collate "C" primary key,
  name text not null,
  status text not null default 'active' check (status in ('active', 'disabled')),
  kyb_status text not null default 'none'
    check (kyb_status in ('none', 'pending', 'approved', 'rejected')),
  refund_window_days integer not null default 180 check (refund_window_days between 0 and 3650),
  refund_daily_limit bigint not null default 10000000000 check (refund_daily_limit >= 0),
  created timestamptz(3) not null
);

-- One row per account and mode. It carries two things:
-- * what the settlement contract of the mode's network knows of the merchant;
-- * the commit order of everything that the account lists. Whoever writes listed rows takes this
--   row's lock LAST before inserting, counts `position` up and stamps `created` no earlier than
--   the row before. So list order, `created` order and commit order are one: a poller with
--   created_gte never misses a row that was committed later (without it, 5,816 of 9,765 were
--   missed under load), and a keyset cursor over `position` has neither gaps nor duplicates.
--   fillfactor: the row is updated by every transaction of the account, in place.
create table account_modes (
  account_id text collate "C" not null references accounts (id),
  livemode boolean not null,
  position bigint not null default 0,
  stamped_at timestamptz(3) not null default '-infinity',
  merchant_number bigint,
  settlement_wallet text,
  live_at timestamptz(3),
  primary key (account_id, livemode),
  check ((merchant_number is null) = (live_at is null))
) with (fillfactor = 20, autovacuum_vacuum_threshold = 200, autovacuum_vacuum_scale_factor = 0);

create unique index account_modes_merchant on account_modes (livemode, merchant_number);

create table api_keys (
  id text collate "C" primary key,
  account_id text collate "C" not null references accounts (id),
  livemode boolean not null,
  hash bytea not null unique,
  -- What a person may see of the key later: the prefix and the last four characters.
  hint text not null,
  name text not null,
  scopes text[] not null,
  -- Addresses or CIDR ranges; empty means every address.
  ip_allowlist text[] not null default '{}',
  api_version text not null,
  created timestamptz(3) not null,
  expires_at timestamptz(3),
  revoked_at timestamptz(3),
  last_used_at timestamptz(3)
);

create index api_keys_account on api_keys (account_id, livemode, created desc);
