-- A verified business keeps its name until the network's staff has seen the new one: payers trust
-- what was verified.
create table account_name_requests (
  account_id text collate "C" primary key references accounts (id),
  name text not null,
  requested_by text collate "C" not null,
  created timestamptz(3) not null
);
