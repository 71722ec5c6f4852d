-- Idempotency keys and the stored responses.
--
-- `caller` is '' for the merchant API, where account and mode own the keys. Terminals and payers
-- have their own key space (caller = their id), so that a terminal's key never matches a server's.
--
-- in_progress: claimed; the request is running or was interrupted. completed: the response is
-- stored.
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
-- Finds the key whose response is still missing when the work of an interrupted request ends.
create index idempotency_keys_waiting on idempotency_keys (resource) where status = 'in_progress';
