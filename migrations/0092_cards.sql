-- Cards that answer each tap with a message of their own (NTAG 424 DNA), and one-minute codes of
-- passes. Both are worth one attempt: what was presented once is refused afterwards.

create table cards (
  id text collate "C" primary key,
  payer_id text collate "C" not null references payers (id),
  label text not null default '',
  -- Both AES keys of the card, sealed.
  keys bytea not null,
  per_payment_limit bigint not null check (per_payment_limit between 1 and 1000000000000),
  -- The highest count that was accepted. A card's own count is never below 0.
  counter integer not null default -1 check (counter between -1 and 16777215),
  -- Of the chip, 14 hex digits: bound by the first accepted tap.
  uid text collate "C" check (uid ~ '^[0-9A-F]{14}$'),
  -- How often test mode has played this card.
  emulated integer not null default 0,
  created timestamptz(3) not null,
  last_used_at timestamptz(3),
  revoked_at timestamptz(3)
);

create index cards_payer_listed on cards
  (payer_id, (revoked_at is null) desc, created desc, id desc);

create table pass_codes (
  hash bytea primary key,
  pass_id text collate "C" not null references passes (id) on delete cascade,
  created timestamptz(3) not null,
  expires_at timestamptz(3) not null,
  used_at timestamptz(3)
);

create index pass_codes_pass on pass_codes (pass_id);
create index pass_codes_expires on pass_codes (expires_at);

-- Every way to pay that behavior.md 6.3 knows.
alter table payments drop constraint payments_method_type_check;
alter table payments add constraint payments_method_type_check
  check (method_type in ('wallet_pass', 'wallet', 'agent_token', 'unknown')) not valid;
alter table payments drop constraint payments_credential_type_check;
alter table payments add constraint payments_credential_type_check
  check (credential_type in
    ('nfc_id', 'nfc_sun', 'qr', 'authorization', 'agent_token', 'unknown')) not valid;
