-- Payment intents and payments.
--
-- What a status may carry is checked here as well as in the code: a row that breaks a rule of
-- money cannot be stored, whoever writes it.

create table payment_intents (
  id text collate "C" primary key,
  account_id text collate "C" not null,
  livemode boolean not null,
  position bigint not null,
  created timestamptz(3) not null,
  amount bigint not null check (amount between 1 and 1000000000000),
  terminal_id text collate "C" not null,
  order_id text collate "C" not null check (order_id ~ '^[A-Za-z0-9_-]{1,8}$'),
  description text,
  metadata jsonb not null,
  source text not null check (source in ('api', 'terminal')),
  split_group text,
  expires_at timestamptz(3) not null,
  picked_up_at timestamptz(3),
  tapped_at timestamptz(3),
  status text not null check (status in
    ('requires_payment_method', 'requires_action', 'processing', 'succeeded', 'canceled')),
  -- Who pays, how, since when: set while requires_action or processing, and kept once succeeded.
  -- {payer, payer_address, credential: {type, id}, reason_code?, confirm_by?, confirmed?}
  attempt jsonb,
  -- While requires_action: until when the payer may confirm.
  confirm_by timestamptz(3),
  last_payment_error jsonb,
  payment_id text collate "C",
  tx_hash text collate "C",
  cancellation_reason text,
  canceled_at timestamptz(3),
  unique (account_id, livemode, order_id),
  check ((status = 'succeeded') = (payment_id is not null)),
  check ((status = 'succeeded') = (tx_hash is not null)),
  check ((status = 'canceled') = (canceled_at is not null and cancellation_reason is not null)),
  check ((status = 'requires_action') = (confirm_by is not null)),
  check (status not in ('requires_action', 'processing', 'succeeded') or attempt is not null)
) with (fillfactor = 80);

create index payment_intents_list on payment_intents (account_id, livemode, created, position);
create index payment_intents_list_terminal
  on payment_intents (account_id, livemode, terminal_id, created, position);
create index payment_intents_list_source
  on payment_intents (account_id, livemode, source, created, position);
-- What a terminal asks for, and what the expiry worker looks for: open intents only.
create index payment_intents_open on payment_intents (terminal_id, position)
  where status = 'requires_payment_method';
create index payment_intents_expiry on payment_intents (expires_at)
  where status = 'requires_payment_method';
create index payment_intents_confirmation on payment_intents (confirm_by)
  where status = 'requires_action';

create table payments (
  id text collate "C" primary key,
  account_id text collate "C" not null,
  livemode boolean not null,
  position bigint not null,
  created timestamptz(3) not null,
  -- At most one payment per intent.
  payment_intent_id text collate "C" not null unique references payment_intents (id),
  terminal_id text collate "C" not null,
  payer_id text collate "C" not null,
  payer_address text collate "C" not null,
  order_id text collate "C" not null,
  split_group text,
  method_type text not null check (method_type in ('wallet_pass', 'agent_token')),
  credential_type text not null check (credential_type in ('nfc_id', 'agent_token')),
  amount bigint not null check (amount > 0),
  fee_acquirer bigint not null check (fee_acquirer >= 0),
  fee_protocol bigint not null check (fee_protocol >= 0),
  fee_cashback bigint not null check (fee_cashback between 0 and fee_protocol),
  -- Reserved by refunds that are pending or succeeded; refunded by those that succeeded.
  amount_reserved bigint not null default 0 check (amount_reserved between 0 and amount),
  amount_refunded bigint not null default 0 check (amount_refunded between 0 and amount_reserved),
  chain_id bigint not null,
  -- The number of the payment on the settlement contract: settled there at most once.
  settlement_number bigint not null,
  batch_number bigint not null,
  tx_hash text collate "C" not null,
  block_number bigint not null,
  log_index integer not null,
  settled_at timestamptz(3) not null,
  refundable_until timestamptz(3) not null,
  unique (livemode, settlement_number)
);

create index payments_list on payments (account_id, livemode, created, position);
create index payments_list_terminal on payments (account_id, livemode, terminal_id, created, position);
-- What was refunded, wholly or in part: few among many.
create index payments_list_refunded on payments (account_id, livemode, created, position)
  where amount_refunded > 0;
-- One payer over all merchants: daily sums, and the history, newest first.
create index payments_payer on payments (payer_id, settled_at, settlement_number);
