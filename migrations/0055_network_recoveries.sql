-- How far each network's ledger has been compared with its chain after the database was replaced:
-- by a failover, by a restored backup, by a copy that was put back.

create table network_recoveries (
  livemode boolean primary key,
  status text not null default 'done' check (status in ('done', 'recovering')),
  -- System, database and timeline that the last recovery was done for. Null: none was needed yet.
  incarnation text,
  -- Counts up whenever a recovery is asked for, so that one that runs does not end over it.
  asked bigint not null default 0,
  -- Why: incarnation, nonce, position, reconciliation, command.
  reason text,
  -- What was done before may be missing, not only that it might be.
  loss_shown boolean not null default false,
  -- Up to which block the chain has been read in this run. Null: not begun.
  read_to bigint,
  -- The first day whose figures may have changed.
  first_day date,
  -- One process at a time: whoever works with an older fence changes nothing.
  lease_owner text,
  lease_until timestamptz(3),
  fence bigint not null default 0,
  started timestamptz(3),
  finished timestamptz(3),
  payments integer not null default 0,
  refunds integer not null default 0,
  withdrawals integer not null default 0,
  canceled integer not null default 0,
  credentials integer not null default 0
);

insert into network_recoveries (livemode) values (false), (true);

-- A payment that was rebuilt from the chain: nobody knows any more how it was paid.
alter table payments drop constraint payments_method_type_check;
alter table payments add constraint payments_method_type_check
  check (method_type in ('wallet_pass', 'agent_token', 'unknown')) not valid;
alter table payments drop constraint payments_credential_type_check;
alter table payments add constraint payments_credential_type_check
  check (credential_type in ('nfc_id', 'agent_token', 'unknown')) not valid;
