-- What the wallets of phones give for a pass at a reader: Google Wallet by Smart Tap, Apple Wallet by
-- VAS. Each is a random value of its own, sealed so that the pass can be made again, and hashed to be
-- found by.
create table phone_passes (
  hash bytea primary key,
  pass_id text collate "C" not null references passes (id) on delete cascade,
  kind text not null check (kind in ('smart_tap', 'apple_vas')),
  sealed bytea not null,
  created timestamptz(3) not null,
  -- The database has lost which of its taps were used: see src/payers/phone-pass.ts.
  doubted_at timestamptz(3),
  -- The second of the last tap that test mode has played: each has one of its own.
  played_at timestamptz(0),
  unique (pass_id, kind)
);

-- Taps that were used, each by the hash of all that the reader read. The nonces of Smart Tap are kept
-- for as long as the value is valid; what carries a time is swept once it is too old anyway.
create table phone_taps (
  hash bytea primary key,
  phone_pass bytea not null references phone_passes (hash) on delete cascade,
  used_at timestamptz(3) not null,
  swept_from timestamptz(3)
);

create index phone_taps_pass on phone_taps (phone_pass);
create index phone_taps_swept on phone_taps (swept_from) where swept_from is not null;

-- Every way to pay that behavior.md 6.3 knows.
alter table payments drop constraint payments_credential_type_check;
alter table payments add constraint payments_credential_type_check
  check (credential_type in
    ('nfc_id', 'nfc_sun', 'qr', 'rotating_code', 'smart_tap', 'apple_vas', 'authorization', 'chip',
     'agent_token', 'unknown')) not valid;
