-- What the service asks of the chains, and the relayer's write-ahead log.
--
-- A domain leaves a chain_requests row in its own transaction. The relayer packs requests into
-- transactions: lane locked, nonce taken, bytes signed and stored with their requests, commit,
-- and only then broadcast. The outcome is written back to the request; its domain applies it in a
-- transaction of its own and sets applied_at.

create table settlement_numbers (
  livemode boolean not null,
  -- The bit of the contract's replay guard. Sequential per network, so that bits share slots.
  number bigint not null check (number >= 0),
  payment_intent_id text collate "C" not null unique,
  primary key (livemode, number)
);

create sequence settlement_number_test minvalue 0 start 0;
create sequence settlement_number_live minvalue 0 start 0;

create table relayer_lanes (
  livemode boolean not null,
  lane integer not null,
  address text collate "C" not null,
  next_nonce bigint not null default 0,
  -- Who works this lane, until when; every new lease has a higher fence, and whoever finishes
  -- work with an older fence changes nothing.
  lease_owner text,
  lease_until timestamptz(3),
  fence bigint not null default 0,
  primary key (livemode, lane),
  unique (livemode, address)
);

create table chain_transactions (
  id bigint generated always as identity primary key,
  livemode boolean not null,
  lane integer not null,
  nonce bigint not null,
  kind text not null,
  status text not null check (status in ('signed', 'mined', 'finalized')),
  created timestamptz(3) not null,
  -- The attempt that was mined, and where.
  tx_hash text collate "C",
  block_number bigint,
  block_hash text collate "C",
  finalized_at timestamptz(3),
  -- One transaction per nonce: a replacement is another attempt of the same row.
  unique (livemode, lane, nonce),
  foreign key (livemode, lane) references relayer_lanes (livemode, lane),
  check ((status = 'signed') = (tx_hash is null))
);

create index chain_transactions_open on chain_transactions (livemode, lane, nonce)
  where status <> 'finalized';

create table chain_attempts (
  tx_hash text collate "C" primary key,
  transaction_id bigint not null references chain_transactions (id),
  raw bytea not null,
  max_fee_per_gas numeric(78) not null,
  max_priority_fee_per_gas numeric(78) not null,
  created timestamptz(3) not null,
  broadcast_at timestamptz(3)
);

create index chain_attempts_transaction on chain_attempts (transaction_id);

create table chain_requests (
  id bigint generated always as identity primary key,
  livemode boolean not null,
  kind text not null,
  -- The intent, refund, withdrawal, … that asked.
  subject_id text collate "C" not null,
  payload jsonb not null,
  status text not null check (status in ('queued', 'submitted', 'succeeded', 'failed')),
  transaction_id bigint references chain_transactions (id),
  outcome jsonb,
  created timestamptz(3) not null,
  applied_at timestamptz(3),
  check ((status = 'submitted') <= (transaction_id is not null)),
  check ((status in ('succeeded', 'failed')) = (outcome is not null))
) with (fillfactor = 70);

-- At most one settlement per intent (and one transfer per refund or withdrawal) is ever under way
-- or done: the database's half of the rule whose other half is the contract's replay guard.
create unique index chain_requests_once on chain_requests (kind, subject_id)
  where status in ('queued', 'submitted', 'succeeded');
create index chain_requests_queued on chain_requests (livemode, kind, id) where status = 'queued';
create index chain_requests_transaction on chain_requests (transaction_id);
create index chain_requests_outcomes on chain_requests (kind, id)
  where status in ('succeeded', 'failed') and applied_at is null;
