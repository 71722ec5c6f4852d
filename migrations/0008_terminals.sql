-- Terminals, their device keys, tags and receipt numbers. A key belongs to one terminal, and so to
-- one network.

create table terminals (
  id text collate "C" primary key,
  account_id text collate "C" not null references accounts (id),
  livemode boolean not null,
  position bigint not null,
  created timestamptz(3) not null,
  label text not null,
  name text not null,
  platform text not null default 'generic',
  status text not null default 'active' check (status in ('active', 'inactive')),
  last_seen_at timestamptz(3),
  version integer not null default 1,
  -- The software that the terminal runs, as it reports it; `null` if it never has.
  software_version text,
  -- The number from which the terminal's own address is derived under the id key
  -- (src/terminals/tag-url.ts); the shop writes the address to an NFC sticker or prints it as a QR
  -- code. The database alone does not suffice to compute it. A new number makes a new address.
  tag uuid not null default gen_random_uuid(),
  -- Whether the reader asks phones for passes of Google Wallet.
  smart_tap boolean not null default false
);

create index terminals_list on terminals (account_id, livemode, created, position);
create unique index terminals_tag on terminals (tag);

create table device_keys (
  hash bytea primary key,
  terminal_id text collate "C" not null references terminals (id),
  created timestamptz(3) not null,
  revoked_at timestamptz(3)
);

create index device_keys_terminal on device_keys (terminal_id);

-- A terminal with a keyboard gets its device key for this code. Valid for minutes, single use.
create table pairing_codes (
  hash bytea primary key,
  terminal_id text collate "C" not null references terminals (id),
  created timestamptz(3) not null,
  expires_at timestamptz(3) not null,
  used_at timestamptz(3),
  -- Made with a second factor that was verified a moment before. Only such a code unlocks a till
  -- whose PIN is lost, or moves a till with real money to another terminal.
  by_fresh_factor boolean not null default false
);

create index pairing_codes_terminal on pairing_codes (terminal_id);

-- A tag may be a chip that signs each tap (NTAG 424 DNA). Its keys are derived from `chip` under
-- the id key (src/terminals/tag-chip.ts), so that no row suffices to forge a message.
create table tag_chips (
  terminal_id text collate "C" primary key references terminals (id) on delete cascade,
  chip uuid not null,
  -- The highest accepted count. A chip's own count is never below 0.
  counter integer not null default -1 check (counter between -1 and 16777215),
  -- The chip's UID, 14 hex digits, bound by the first accepted tap.
  uid text collate "C" check (uid ~ '^[0-9A-F]{14}$'),
  created timestamptz(3) not null
);

-- Keys by which this network's readers authenticate to phones (Smart Tap). Google has the public
-- keys. Two may be valid at a time, so that a new one can be registered before it is used.
create table collector_keys (
  version integer primary key check (version > 0),
  -- Assigned to the network by Google.
  collector_id bigint not null check (collector_id between 1 and 4294967295),
  -- PEM.
  public_key text not null,
  -- Encrypted; deleted when the key ends.
  private_key bytea,
  created timestamptz(3) not null,
  -- Readers use the key with the newest `used_from`.
  used_from timestamptz(3),
  ended_at timestamptz(3),
  check ((private_key is null) = (ended_at is not null))
);

-- Codes that let a till refund more than a clerk may: a sale of another till, or a large amount.
-- Made in the dashboard with a fresh second factor, typed at the till, single use.
create table manager_codes (
  hash bytea primary key,
  account_id text collate "C" not null references accounts (id),
  livemode boolean not null,
  created timestamptz(3) not null,
  expires_at timestamptz(3) not null,
  used_at timestamptz(3),
  -- The refund that used it.
  refund_id text collate "C"
);

create index manager_codes_account on manager_codes (account_id, created);

-- Receipt numbers: 1, 2, 3 … per terminal, without gaps, assigned in the transaction that books the
-- payment or the refund. A series belongs to a terminal and has a random prefix, so that a database
-- restored to an earlier state assigns no number twice: after a loss every series ends, and the
-- next one has another prefix. Rows are updated in place, under the account's order lock.
create table receipt_series (
  account_id text collate "C" not null,
  livemode boolean not null,
  prefix text collate "C" not null,
  terminal_id text collate "C" not null references terminals (id),
  kind text not null check (kind in ('payment', 'refund')),
  -- The last assigned number.
  given bigint not null check (given >= 0),
  begun_at timestamptz(3) not null,
  ended_at timestamptz(3),
  -- Begun because the database was shown to have lost rows; the recovery's report names it.
  after_loss boolean not null default false,
  primary key (account_id, livemode, prefix)
) with (fillfactor = 50);

create unique index receipt_series_current on receipt_series (terminal_id, kind)
  where ended_at is null;
