-- Idempotent requests. `caller` is '' for the merchant API, where keys belong to account and mode
-- alone; terminals and payers have a space of their own (their id), so that a cashier's key never
-- meets a server's.
--
-- in_progress: claimed, its work goes on or was interrupted. completed: the response is stored.

create table idempotency_keys (
  account_id text collate "C" not null,
  livemode boolean not null,
  caller text collate "C" not null default '',
  key text collate "C" not null,
  fingerprint bytea not null,
  method text not null,
  path text not null,
  status text not null check (status in ('in_progress', 'completed')),
  resource text,
  response_status integer,
  response_body text,
  created timestamptz(3) not null,
  expires_at timestamptz(3) not null,
  primary key (account_id, livemode, caller, key),
  check ((status = 'completed') = (response_status is not null and response_body is not null))
);

create index idempotency_keys_expires on idempotency_keys (expires_at);
-- The work of an interrupted request finds the key that waits for its response.
create index idempotency_keys_waiting on idempotency_keys (resource) where status = 'in_progress';
