-- Changes of an account's owners, and the brake that every owner gets by mail: a link that holds the
-- service's payouts until an owner lifts the hold.

create table owner_changes (
  id text collate "C" primary key,
  account_id text collate "C" not null references accounts (id),
  kind text not null
    check (kind in ('invited', 'joined', 'promoted', 'demoted', 'removed', 'left')),
  -- Whose ownership it is about.
  email text collate "C" not null,
  changed_by text collate "C" not null,
  created timestamptz(3) not null
);

create index owner_changes_account on owner_changes (account_id, created desc);

-- One per change and owner. Works once.
create table payout_hold_links (
  hash bytea primary key,
  change_id text collate "C" not null references owner_changes (id),
  account_id text collate "C" not null references accounts (id),
  email text collate "C" not null,
  created timestamptz(3) not null,
  expires_at timestamptz(3) not null,
  used_at timestamptz(3)
);

create index payout_hold_links_expires on payout_hold_links (expires_at);

create table payout_holds (
  id text collate "C" primary key,
  account_id text collate "C" not null references accounts (id),
  change_id text collate "C" not null references owner_changes (id),
  held_by text collate "C" not null,
  created timestamptz(3) not null,
  lifted_at timestamptz(3),
  lifted_by text collate "C"
);

create unique index payout_holds_open on payout_holds (account_id) where lifted_at is null;

-- A first settlement wallet that an admin has prepared and an owner has to confirm. One per mode;
-- the next one takes its place.
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
