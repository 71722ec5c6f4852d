-- Terminals and their device keys. A key belongs to one terminal, and so to one network.

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
  last_seen_at timestamptz(3)
);

create index terminals_list on terminals (account_id, livemode, created, position);

create table device_keys (
  hash bytea primary key,
  terminal_id text collate "C" not null references terminals (id),
  created timestamptz(3) not null,
  revoked_at timestamptz(3)
);

create index device_keys_terminal on device_keys (terminal_id);
