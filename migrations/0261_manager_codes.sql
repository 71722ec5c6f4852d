-- Codes with which a till may give back more than a clerk may: the sale of another till, or a large
-- sum. Made in the dashboard by somebody with a fresh second factor, typed at the till, used once.
create table manager_codes (
  hash bytea primary key,
  account_id text collate "C" not null references accounts (id),
  livemode boolean not null,
  created timestamptz(3) not null,
  expires_at timestamptz(3) not null,
  used_at timestamptz(3),
  -- What it was used for.
  refund_id text collate "C"
);

create index manager_codes_account on manager_codes (account_id, created);
