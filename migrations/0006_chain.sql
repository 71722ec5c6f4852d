-- What the service asks of the chains, and the relayer's write-ahead log.
--
-- A domain leaves a chain_requests row in its own transaction. The relayer packs requests into
-- transactions: lane locked, nonce taken, bytes signed and stored with their requests, commit,
-- and only then broadcast. The outcome is written back to the request; its domain applies it in a
-- transaction of its own and sets applied_at.

create table settlement_numbers (
  livemode boolean not null,
  -- The bit of the contract's replay guard. Sequential per network, so that bits share slots.
  number bigint not null check (number > 0),
  payment_intent_id text collate "C" not null unique,
  primary key (livemode, number)
);

-- Never zero: the contract refuses it.
create sequence settlement_number_test;
create sequence settlement_number_live;
-- The replay guard of refunds and withdrawals: one number per request, on either network.
create sequence transfer_number;

create table relayer_lanes (
  livemode boolean not null,
  lane integer not null,
  -- What its key may do on the contract.
  role text not null check (role in ('operator', 'registrar')),
  address text collate "C" not null,
  next_nonce bigint not null,
  -- Who works this lane, until when; every new lease has a higher fence, and whoever finishes
  -- work with an older fence changes nothing.
  lease_owner text,
  lease_until timestamptz(3),
  fence bigint not null default 0,
  primary key (livemode, lane),
  unique (livemode, address)
);

-- Who works at all, so that lanes can be shared out evenly.
create table relayer_workers (
  livemode boolean not null,
  owner text not null,
  seen_at timestamptz(3) not null,
  primary key (livemode, owner)
);

create table chain_transactions (
  id bigint generated always as identity primary key,
  livemode boolean not null,
  lane integer not null,
  nonce bigint not null,
  kind text not null,
  -- foreign: the nonce was used by bytes that are not ours, so the key is in use elsewhere.
  status text not null check (status in ('signed', 'mined', 'finalized', 'foreign')),
  created timestamptz(3) not null,
  -- The call, so that another attempt can be signed for the same nonce.
  target text collate "C" not null,
  input bytea not null,
  gas_limit bigint not null,
  -- The attempt that was mined, and where. A reorg can undo it until the block is final.
  tx_hash text collate "C",
  block_number bigint,
  block_hash text collate "C",
  finalized_at timestamptz(3),
  -- One transaction per nonce: a replacement is another attempt of the same row.
  unique (livemode, lane, nonce),
  foreign key (livemode, lane) references relayer_lanes (livemode, lane),
  check ((status in ('mined', 'finalized')) = (tx_hash is not null))
);

create index chain_transactions_open on chain_transactions (livemode, lane, nonce)
  where status in ('signed', 'mined');

create table chain_attempts (
  tx_hash text collate "C" primary key,
  transaction_id bigint not null references chain_transactions (id),
  raw bytea not null,
  -- A no-op only uses the nonce up, so that the nonces behind it can go on.
  noop boolean not null default false,
  max_fee_per_gas numeric(78) not null,
  max_priority_fee_per_gas numeric(78) not null,
  created timestamptz(3) not null
);

create index chain_attempts_transaction on chain_attempts (transaction_id);

create table chain_requests (
  id bigint generated always as identity primary key,
  livemode boolean not null,
  kind text not null,
  -- The intent, refund, withdrawal, … that asked.
  subject_id text collate "C" not null,
  -- What the contract knows the payment, refund or withdrawal by.
  number bigint,
  payload jsonb not null,
  -- Transactions that were mined without an answer for this request (reverted, or a no-op).
  tries integer not null default 0,
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
-- First tries of payments go in batches, everything else alone.
create index chain_requests_batched on chain_requests (livemode, id)
  where status = 'queued' and kind = 'payment' and tries = 0;
create index chain_requests_single on chain_requests (livemode, id)
  where status = 'queued' and (kind <> 'payment' or tries > 0);
create index chain_requests_transaction on chain_requests (transaction_id);
-- A refund's number is its index among the refunds of one payment (on the contract as well).
create unique index chain_requests_refund_index
  on chain_requests (livemode, (payload ->> 'paymentId'), number)
  where kind = 'refund' and status in ('queued', 'submitted', 'succeeded');
create index chain_requests_refunds on chain_requests ((payload ->> 'paymentId'))
  where kind = 'refund';
create index chain_requests_outcomes on chain_requests (kind, id)
  where status in ('succeeded', 'failed') and applied_at is null;

-- What the chain says was paid, one row per settled payment: refunds are proved from it, an
-- already settled number is answered from it, and the reconciler fills what is missing.
create table chain_payments (
  livemode boolean not null,
  number bigint not null,
  batch_number bigint not null,
  payer text collate "C" not null,
  merchant_number bigint not null,
  amount bigint not null,
  order_id text collate "C" not null,
  fee_acquirer bigint not null,
  fee_protocol bigint not null,
  cashback bigint not null,
  tx_hash text collate "C" not null,
  block_number bigint not null,
  log_index integer not null,
  block_time timestamptz(3) not null,
  primary key (livemode, number)
);

create index chain_payments_batch on chain_payments (livemode, batch_number, log_index);

-- What a person has to look at: never resolved by the service itself.
create table chain_alarms (
  id bigint generated always as identity primary key,
  livemode boolean not null,
  kind text not null,
  subject text collate "C" not null,
  details jsonb not null,
  created timestamptz(3) not null,
  resolved_at timestamptz(3)
);

create unique index chain_alarms_open on chain_alarms (livemode, kind, subject)
  where resolved_at is null;
