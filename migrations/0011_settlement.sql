-- Settlement: jobs for the chains, the relayer's write-ahead log, what the chains report, and the
-- state of each network.
--
-- A use case inserts a settlement job (chain_requests) in its own transaction. The relayer packs
-- jobs into transactions: it locks a sender, takes a nonce, signs, stores the signed bytes with
-- their jobs, commits, and only then broadcasts. The result is written to the job; the use case
-- applies it in a transaction of its own and sets applied_at.

-- A payment's settlement number is its index in the contract's replay guard, drawn when the intent
-- is created, by each process in blocks of 256: the contract keeps 256 of them in one slot.
create table settlement_number_blocks (
  livemode boolean primary key,
  -- Block n holds the numbers from 256 n on.
  next_block bigint not null,
  -- A new epoch invalidates all blocks drawn before. It is random, because a restored database
  -- would count up to the same one again.
  epoch bigint not null default (random() * 9007199254740991)::bigint
);

-- The first million numbers are left out.
insert into settlement_number_blocks (livemode, next_block) values (false, 4096), (true, 4096);

-- Numbers of intents that were created without one: they get it at the first attempt.
create table settlement_numbers (
  livemode boolean not null,
  number bigint not null check (number > 0),
  payment_intent_id text collate "C" not null unique,
  primary key (livemode, number)
);

-- An intent with a number keeps it: two numbers would be two chances to be charged.
create function give_settlement_number() returns trigger language plpgsql as $$
begin
  select settlement_number into new.number from payment_intents where id = new.payment_intent_id;
  if new.number is null then
    update settlement_number_blocks set next_block = next_block + 1
      where livemode = new.livemode returning next_block * 256 - 1 into new.number;
  end if;
  return new;
end $$;

create trigger settlement_numbers_given before insert on settlement_numbers
  for each row execute function give_settlement_number();

-- No longer used: payments take their numbers from settlement_number_blocks, and those of
-- withdrawals are derived from their ids.
create sequence settlement_number_test;
create sequence settlement_number_live;
create sequence transfer_number;

-- Senders: accounts of the relayer on a chain.
create table relayer_senders (
  livemode boolean not null,
  sender integer not null,
  -- What the key may do: settle, register merchants, or only pay gas for payers' transfers, so that
  -- no sale waits behind one.
  role text not null check (role in ('operator', 'registrar', 'sponsor')),
  address text collate "C" not null,
  next_nonce bigint not null,
  -- The worker that uses this sender, and until when. Each lease has a higher fencing token; a
  -- write with an older one changes nothing.
  lease_owner text,
  lease_until timestamptz(3),
  fencing_token bigint not null default 0,
  -- When transactions of someone else were found for this key: the sender takes no new work.
  stopped_at timestamptz(3),
  primary key (livemode, sender),
  unique (livemode, address)
);

-- The running workers, so that senders are divided evenly, and what each reports about its network:
-- a tap is declined while no worker can settle.
create table relayer_workers (
  livemode boolean not null,
  owner text not null,
  seen_at timestamptz(3) not null,
  -- Why this worker cannot settle: no_node, clock, paused.
  reasons text[] not null default '{}',
  -- How many operator senders it holds, and how many of them can pay for gas.
  senders integer not null default 0,
  funded_senders integer not null default 0,
  -- False until it has seen a block: such a worker takes no senders and is not counted when they
  -- are divided.
  shares_senders boolean not null default true,
  -- How many payments the gas balance of its senders pays for, at the fees of its last poll; `null`
  -- if unknown, or if gas is free.
  payments_left bigint,
  -- How many contracts of the network this worker knows. No merchant moves to a contract that a
  -- worker does not know, such as one with older settings.
  contracts integer not null default 1,
  primary key (livemode, owner)
);

create table chain_transactions (
  id bigint generated always as identity primary key,
  livemode boolean not null,
  sender integer not null,
  nonce bigint not null,
  kind text not null,
  -- foreign: another program used the nonce, so the key is in use elsewhere.
  status text not null check (status in ('signed', 'mined', 'finalized', 'foreign')),
  created timestamptz(3) not null,
  -- The call, so that it can be signed again for the same nonce.
  target text collate "C" not null,
  input bytea not null,
  gas_limit bigint not null,
  -- The broadcast that was mined, and its block. Until the block is final, a reorganization can
  -- undo it.
  tx_hash text collate "C",
  block_number bigint,
  block_hash text collate "C",
  finalized_at timestamptz(3),
  -- By the chain's clock: the contract refuses the call in later blocks; `null` if it never does.
  valid_until timestamptz(3),
  -- A job of this transaction was queued again or has failed. Its bytes must never be sent again:
  -- new ones do the same, or the merchant was notified that nothing was charged.
  retired boolean not null default false,
  -- The transaction is in a block, and one of its payments needs more confirmations
  -- (CHAIN_…_CONFIRMATION_TIERS): since when, and which. Both are `null` otherwise.
  included_at timestamptz,
  waits_for text check (waits_for in ('time', 'safe', 'finalized')),
  -- One transaction per nonce: a replacement is another broadcast of the same row.
  unique (livemode, sender, nonce),
  foreign key (livemode, sender) references relayer_senders (livemode, sender),
  check ((status in ('mined', 'finalized')) = (tx_hash is not null))
);

create index chain_transactions_under_way
  on chain_transactions (status, livemode, sender, nonce) where status in ('signed', 'mined');
-- Refunds and withdrawals that were mined after the block at which a balance was read.
create index chain_transactions_paid_out on chain_transactions (livemode, block_number)
  where kind in ('refund', 'withdrawal');

-- Broadcasts: the signed bytes of a transaction, once per fee.
create table chain_attempts (
  tx_hash text collate "C" primary key,
  transaction_id bigint not null references chain_transactions (id),
  raw bytea not null,
  -- A cancellation transaction: it uses the nonce and does nothing, so that later nonces proceed.
  cancels boolean not null default false,
  max_fee_per_gas numeric(78) not null,
  max_priority_fee_per_gas numeric(78) not null,
  created timestamptz(3) not null
);

create index chain_attempts_transaction on chain_attempts (transaction_id);

-- Transactions for a remote signer (src/settlement/remote-signer.ts). Nonce, call and fees are
-- committed here before the signer is called, so that every later holder of the sender requests the
-- same signature. The row is deleted when the signed bytes are stored in chain_attempts.
create table chain_unsigned (
  transaction_id bigint primary key references chain_transactions (id),
  cancels boolean not null default false,
  max_fee_per_gas numeric(78) not null,
  max_priority_fee_per_gas numeric(78) not null,
  created timestamptz(3) not null
);

create table chain_requests (
  id bigint generated always as identity primary key,
  livemode boolean not null,
  kind text not null,
  -- The id of the intent, refund, withdrawal or other object that the job is for.
  subject_id text collate "C" not null,
  -- Identifies a payment or withdrawal in the contract.
  number bigint,
  payload jsonb not null,
  -- How many transactions were mined without a result for this job (reverted or canceled).
  tries integer not null default 0,
  status text not null check (status in ('queued', 'submitted', 'succeeded', 'failed')),
  transaction_id bigint references chain_transactions (id),
  outcome jsonb,
  created timestamptz(3) not null,
  applied_at timestamptz(3),
  -- A payment settles by its deadline (the database's time) or never; `null` for jobs that stay
  -- owed, such as refunds.
  deadline timestamptz(3),
  -- Seconds from the tap, or from the payer's confirmation, to the deadline.
  settle_within integer check (settle_within > 0),
  -- By the chain's clock: no signed bytes can settle the job in a later block.
  signed_until timestamptz(3),
  -- The token refuses a refund for now (paused, or an address on its blocklist), and its message.
  blocked_since timestamptz(3),
  blocked_by text,
  -- A booked sale that a reorganization undid and the chain refuses: since when, and when it is
  -- sent again ('infinity' if never). Both are `null` if it was not refused.
  owed_since timestamptz(3),
  next_attempt timestamptz(3),
  check ((status = 'submitted') <= (transaction_id is not null)),
  check ((status in ('succeeded', 'failed')) = (outcome is not null)),
  constraint chain_requests_deadline check ((deadline is null) = (settle_within is null))
) with (fillfactor = 70);

-- At most one settlement per intent (and one transfer per refund or withdrawal) is pending or done.
-- The contract's replay guard ensures the same on the chain.
create unique index chain_requests_once on chain_requests (kind, subject_id)
  where status in ('queued', 'submitted', 'succeeded');
-- First tries of payments are batched; every other job has a transaction of its own.
create index chain_requests_batched on chain_requests (livemode, id)
  where status = 'queued' and kind = 'payment' and tries = 0;
create index chain_requests_single on chain_requests (livemode, id)
  where status = 'queued' and (kind <> 'payment' or tries > 0);
create index chain_requests_transaction on chain_requests (transaction_id);
create index chain_requests_refunds on chain_requests ((payload ->> 'paymentId'))
  where kind = 'refund';
create index chain_requests_withdrawals on chain_requests (livemode, number)
  where kind = 'withdrawal';
create index chain_requests_outcomes on chain_requests (kind, id)
  where status in ('succeeded', 'failed') and applied_at is null;
-- Finds a declined payment by its number, in case the chain settles it after all.
create index chain_requests_declined on chain_requests (livemode, number)
  where kind = 'payment' and status = 'failed';
-- Jobs that succeeded without a transaction here: an earlier one had done them, or a recovery found
-- them on the chain. Until their blocks are final, a reorganization can undo them.
create index chain_requests_answered
  on chain_requests (livemode, ((outcome #>> '{facts,blockNumber}')::bigint))
  where transaction_id is null and status = 'succeeded';

-- Settled payments as the contract's events report them. Refunds are proved from these rows, a
-- number that was already settled gets its result from them, and reconciliation adds missing ones.
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
create index chain_payments_block on chain_payments (livemode, block_number);

-- The batches of each contract, from the first on without a gap: a refund is proved from its
-- payment's batch up to a node that the contract keeps. Each row is derived from the contract's
-- events, and a row whose block has left the chain is replaced.
create table chain_batches (
  livemode boolean not null,
  -- The contract's version (settlement_contracts).
  contract_version integer not null,
  number bigint not null,
  block_number bigint not null,
  block_hash bytea not null,
  -- The Merkle root of its payments.
  root bytea not null,
  -- What it wrote into the contract's Merkle mountain range (contracts/BatchRange.sol).
  node bytea not null,
  primary key (livemode, contract_version, number)
);

-- Refunds and withdrawals as the contract's events report them.
create table chain_transfers (
  livemode boolean not null,
  tx_hash text collate "C" not null,
  log_index integer not null,
  kind text not null check (kind in ('refund', 'withdrawal')),
  -- Of a refund, the payment's number. Of a withdrawal, its own number, or 0 if the merchant's
  -- wallet called the contract.
  number bigint not null,
  -- No longer used: a refund is identified by `reference`.
  refund_index bigint,
  merchant_number bigint not null,
  recipient text collate "C" not null,
  amount bigint not null,
  block_number bigint not null,
  block_time timestamptz(3) not null,
  -- Identifies a refund; `null` for a withdrawal.
  reference bytea,
  primary key (livemode, tx_hash, log_index)
);

create index chain_transfers_block on chain_transfers (livemode, block_number);
create index chain_transfers_number on chain_transfers (livemode, number);

-- Alarms for an operator. The service does not resolve them by itself.
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

-- The state that every process reads before it accepts a tap.
create table network_states (
  livemode boolean primary key,
  -- The ledger is being restored from the chain after a loss; no taps are accepted meanwhile.
  recovering boolean not null default false,
  -- The contract's hourly ceiling, as a worker last read it; `null` before the first read.
  ceiling_per_hour bigint,
  ceiling_settled bigint,
  -- The contract's hour in which ceiling_settled was settled.
  ceiling_hour timestamptz(3)
);

insert into network_states (livemode) values (false), (true);

-- Per account and network: the last hour in which it sold, and its sum in that hour.
create table ceiling_uses (
  livemode boolean not null,
  account_id text collate "C" not null,
  hour timestamptz(3) not null,
  amount bigint not null check (amount > 0),
  primary key (livemode, account_id)
) with (fillfactor = 50);

-- The settlement contracts of a network: the current one, and the previous ones, which still refund
-- and pay out what was paid there (docs/decisions/two-contracts.md). A merchant number identifies
-- its contract: those of version n begin above n * 2^32.
create table settlement_contracts (
  livemode boolean not null,
  -- The contract's version; the network's first one is 0.
  contract_version integer not null check (contract_version >= 0),
  settlement text collate "C" not null,
  -- Whether the events from before the service knew the contract have been read.
  read boolean not null default false,
  primary key (livemode, contract_version)
);

-- The merchant numbers that accounts had on previous contracts.
create table former_merchants (
  livemode boolean not null,
  merchant_number bigint not null,
  account_id text collate "C" not null references accounts (id),
  settlement_wallet text,
  -- Intents of the account up to this position settle on the previous contract.
  until_position bigint not null,
  moved_at timestamptz(3) not null,
  primary key (livemode, merchant_number)
);

create index former_merchants_account on former_merchants (account_id, livemode);

-- Every merchant number that an account has or had.
create view merchant_accounts as
  select livemode, merchant_number, account_id, settlement_wallet
  from account_modes where merchant_number is not null
  union all
  select livemode, merchant_number, account_id, settlement_wallet from former_merchants;

-- The newest block up to which the stored wallet and announcement of a merchant are known to agree
-- with the contract. A node that has not reached this block is not believed.
create table merchant_wallet_blocks (
  livemode boolean not null,
  merchant_number bigint not null,
  block_number bigint not null,
  primary key (livemode, merchant_number)
);

-- Settlements, refunds and withdrawals on the contract that no row explains, although no loss is
-- shown. They are booked only if two operators accept them.
create table foreign_settlements (
  id bigint generated always as identity primary key,
  livemode boolean not null,
  kind text not null check (kind in ('payment', 'refund', 'withdrawal')),
  -- Of the settlement, of the refunded payment, or of the withdrawal.
  number bigint not null,
  tx_hash text collate "C" not null,
  log_index integer not null,
  block_number bigint not null,
  account_id text collate "C" not null references accounts (id),
  -- The payer, or the wallet that was paid.
  address text collate "C" not null,
  amount bigint not null,
  found timestamptz(3) not null,
  decision text check (decision in ('accepted', 'refused')),
  decided_at timestamptz(3),
  unique (livemode, tx_hash, log_index)
);

create index foreign_settlements_account on foreign_settlements (account_id, livemode);
