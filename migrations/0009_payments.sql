-- Payment intents and payments.
--
-- The rules of money are checked here as well as in the code: a row that breaks one cannot be
-- stored.
--
-- Each index of a large table begins with a column of its own. A plan is made while the table is
-- nearly empty; of two indexes that begin with the account, the planner may then choose the wrong
-- one, and each sale reads all rows of the account (docs/decisions/plans.md). For the same reason
-- the terminal, the source and the status of a list have fixed statistics (n_distinct): without
-- them, the plan for a network with one terminal reads the whole account's list for the second one.

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
  -- The payer, the credential and the confirmation of the current attempt; set in requires_action
  -- and processing, and kept in succeeded.
  -- {payer, payer_address, credential: {type, id}, reason_code?, confirm_by?, confirmed?}
  attempt jsonb,
  -- In requires_action: the deadline for the payer's confirmation.
  confirm_by timestamptz(3),
  last_payment_error jsonb,
  payment_id text collate "C",
  tx_hash text collate "C",
  cancellation_reason text,
  canceled_at timestamptz(3),
  -- Index in the contract's replay guard, drawn when the intent is created. `null` if the intent
  -- gets its number at the first tap (settlement_numbers).
  settlement_number bigint check (settlement_number > 0),
  -- Rebuilt from the chain after the database had lost the row.
  recovered boolean not null default false,
  -- How far the account's test clock was ahead (account_modes).
  ahead_seconds bigint not null default 0,
  -- The tips that the customer may choose from. An attempt's tip is in `attempt`.
  tipping jsonb,
  -- W3C traceparent of the create request, so that payment, settlement and webhooks join its trace;
  -- `null` if it was not traced.
  traceparent text,
  -- The price in the shop's currency, and the rate that was locked for it:
  -- {currency, amount, rate, quotedAt, source}. `null` for a sale in USDC.
  presentment jsonb,
  -- The sold items: {lineItems: [{name, quantity, unit_amount, tax_rate, tax_inclusive, discount}],
  -- discount}. `null` for a sale without lines.
  lines jsonb,
  check ((status = 'succeeded') = (payment_id is not null)),
  check ((status = 'succeeded') = (tx_hash is not null)),
  check ((status = 'canceled') = (canceled_at is not null and cancellation_reason is not null)),
  check ((status = 'requires_action') = (confirm_by is not null)),
  check (status not in ('requires_action', 'processing', 'succeeded') or attempt is not null)
) with (fillfactor = 80);

alter table payment_intents alter column terminal_id set (n_distinct = 1000);
alter table payment_intents alter column source set (n_distinct = 2);

create index payment_intents_list on payment_intents (account_id, livemode, created, position);
create unique index payment_intents_order_id
  on payment_intents (order_id, account_id, livemode);
create index payment_intents_terminal
  on payment_intents (terminal_id, created, position);
create index payment_intents_source
  on payment_intents (source, account_id, livemode, created, position);
-- Lists by status. A new intent is open, so creating one writes neither index.
create index payment_intents_succeeded
  on payment_intents ((account_id || ''), livemode, created, position)
  where status = 'succeeded';
create index payment_intents_canceled
  on payment_intents ((account_id || ''), livemode, created, position)
  where status = 'canceled';
-- Intents by the code of their last decline.
create index payment_intents_decline_code
  on payment_intents
    ((last_payment_error ->> 'decline_code'), account_id, livemode, created, position)
  where last_payment_error is not null;
-- A terminal polls for its open intents, and the expiry worker for overdue ones.
create index payment_intents_open on payment_intents (terminal_id, position)
  where status = 'requires_payment_method';
create index payment_intents_expiry on payment_intents (expires_at)
  where status = 'requires_payment_method';
create index payment_intents_confirmation on payment_intents (confirm_by)
  where status = 'requires_action';
-- A payer's attempts that have not ended.
create index payment_intents_under_way on payment_intents ((attempt ->> 'payerId'))
  where status in ('requires_action', 'processing');
-- An account's intents that are being settled.
create index payment_intents_settling on payment_intents ((account_id || ''))
  where status = 'processing';
create unique index payment_intents_settlement_number
  on payment_intents (livemode, settlement_number) where settlement_number is not null;

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
  -- `unknown`: rebuilt from the chain, which does not tell how it was paid.
  method_type text not null check (method_type in
    ('wallet_pass', 'wallet', 'agent_token', 'unknown')),
  credential_type text not null check (credential_type in
    ('nfc_id', 'nfc_sun', 'qr', 'rotating_code', 'smart_tap', 'apple_vas', 'authorization', 'chip',
     'agent_token', 'unknown')),
  -- Sale and tip.
  amount bigint not null check (amount > 0),
  fee_acquirer bigint not null check (fee_acquirer >= 0),
  fee_protocol bigint not null check (fee_protocol >= 0),
  fee_cashback bigint not null check (fee_cashback between 0 and fee_protocol),
  -- Reserved by refunds that are pending or succeeded; refunded by those that succeeded.
  amount_reserved bigint not null default 0 check (amount_reserved between 0 and amount),
  amount_refunded bigint not null default 0 check (amount_refunded between 0 and amount_reserved),
  chain_id bigint not null,
  -- The contract settles each number at most once.
  settlement_number bigint not null,
  batch_number bigint not null,
  tx_hash text collate "C" not null,
  block_number bigint not null,
  log_index integer not null,
  settled_at timestamptz(3) not null,
  refundable_until timestamptz(3) not null,
  -- Rebuilt from the chain after the database had lost the row.
  recovered boolean not null default false,
  ahead_seconds bigint not null default 0,
  tip bigint not null default 0 check (tip >= 0 and tip < amount),
  -- From the terminal's receipt_series; `null` if the payment was booked without one.
  receipt_number text collate "C",
  -- The intent's, with expiresAt and tipAmount (minor units). `null` for a sale in USDC, and for a
  -- rebuilt payment.
  presentment jsonb,
  -- The intent's. `null` for a rebuilt payment, too.
  lines jsonb,
  unique (livemode, settlement_number)
);

alter table payments alter column terminal_id set (n_distinct = 1000);

create index payments_list on payments (account_id, livemode, created, position);
create index payments_terminal
  on payments (terminal_id, created, position);
create index payments_of_amount
  on payments (amount, account_id, livemode, created, position);
create index payments_transaction on payments (tx_hash);
-- Payments with a refund: few of all.
create index payments_refunded
  on payments ((account_id || ''), livemode, created, position) where amount_refunded > 0;
create unique index payments_receipt
  on payments (receipt_number, account_id, livemode) where receipt_number is not null;
-- A payment is found by its order through its intent, whose order ids are unique. Only a rebuilt
-- payment may have an order id that another intent uses by now.
create index payments_recovered
  on payments (order_id, account_id, livemode) where recovered;
-- A payer's payments at all merchants, for daily sums and the history, and at one merchant.
create index payments_payer on payments (payer_id, settled_at, settlement_number);
create index payments_payer_here
  on payments ((payer_id || account_id), settled_at);
create index payments_block on payments (livemode, block_number);

-- Payment by the link of an intent, with any wallet. The link's token is derived from the intent's
-- settlement number, so an intent has a row here only once its link was opened.
create table pay_links (
  payment_intent_id text collate "C" primary key,
  -- The terms that wallets were asked to sign, the newest last: salt, expiry, and the fee rates.
  terms jsonb not null default '[]',
  -- No longer used: pay_link_answers decides when the salt changes.
  renew boolean not null default false,
  -- The times of the last signatures that did not verify.
  failures timestamptz(3)[] not null default '{}'
);

-- How many authorizations of a wallet were answered. The salt that the wallet signs next depends on
-- its own answers only, so that declines of empty wallets do not invalidate what other wallets have
-- signed. Only a valid signature of the wallet makes a row.
create table pay_link_answers (
  payment_intent_id text collate "C" not null,
  -- Checksummed EVM address.
  address text collate "C" not null,
  answers integer not null check (answers > 0),
  primary key (payment_intent_id, address)
);

-- How often a till mailed the receipt of a payment: at most three times. The recipient is not
-- stored.
create table receipt_mails (
  payment_id text collate "C" primary key references payments (id),
  sent smallint not null check (sent between 1 and 3)
);

-- The value of one unit of a currency in USDC, from the rate feeds. A worker writes it and every
-- process reads it, so that all processes quote the same rate.
create table exchange_rates (
  currency text collate "C" primary key check (currency ~ '^[a-z]{3}$'),
  -- The last good rate, as decimal text; `null` if the feeds have not agreed on one yet.
  rate text collate "C" check (rate ~ '^[0-9]+(\.[0-9]+)?$'),
  -- The older time of the two feeds, and until when the rate may be used.
  quoted_at timestamptz(3),
  usable_until timestamptz(3),
  source text,
  -- A rate far from the last good one, the time since which both feeds have reported it, and the
  -- time of their last report.
  jumped_rate text collate "C",
  jumped_since timestamptz(3),
  jumped_seen timestamptz(3),
  check ((rate is null) = (quoted_at is null)),
  check ((rate is null) = (usable_until is null)),
  check ((rate is null) = (source is null)),
  check ((jumped_rate is null) = (jumped_since is null)),
  check ((jumped_rate is null) = (jumped_seen is null))
);

-- When a worker last queried the feeds: one row, which also serves as the lock of a refresh.
create table rate_refresh (
  only_row boolean primary key default true check (only_row),
  asked_at timestamptz(3) not null
);

-- The catalog of an account and mode: the items that its tills sell at a tap, in the order of
-- `position`. Each change of an item raises its version; making room for another one does not.
create table catalogue_items (
  id text collate "C" primary key,
  account_id text collate "C" not null,
  livemode boolean not null,
  name text not null,
  -- Minor units of the currency; atoms without one.
  unit_amount bigint not null check (unit_amount >= 0),
  currency text collate "C" check (currency ~ '^[a-z]{3}$'),
  -- Basis points.
  tax_rate integer not null check (tax_rate between 0 and 10000),
  tax_inclusive boolean not null,
  color text collate "C" check (color ~ '^#[0-9a-fA-F]{6}$'),
  position integer not null check (position >= 0),
  version integer not null default 1 check (version > 0),
  created timestamptz(3) not null
);

create index catalogue_items_list on catalogue_items (account_id, livemode, position);
