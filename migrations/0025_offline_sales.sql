-- Sales while a till has no line: the limits that a merchant chose, the operator's rule for each
-- network, and the authorizations that tills have forwarded.

-- {per_payment, per_card_per_day, total, count, hours}; `null` if the till sells nothing offline.
alter table terminals add column offline jsonb;

-- {id, acceptedAt} of the offline payment that made the intent; `null` for all other intents.
alter table payment_intents add column offline jsonb;

-- The operator's rule. A network without a row allows offline sales without a cap.
create table offline_rules (
  livemode boolean primary key,
  allowed boolean not null,
  -- Atoms: tills see the smaller of this and their own limit. `null` for no cap.
  per_payment bigint check (per_payment > 0)
);

-- A forwarded authorization whose signature is valid. Its identity is network, wallet and nonce,
-- whichever till forwards it, and however often.
create table offline_payments (
  id text collate "C" primary key,
  account_id text collate "C" not null,
  livemode boolean not null,
  position bigint not null,
  created timestamptz(3) not null,
  terminal_id text collate "C" not null,
  -- Checksummed EVM address.
  payer_address text collate "C" not null,
  nonce text collate "C" not null check (nonce ~ '^0x[0-9a-f]{64}$'),
  amount bigint not null check (amount between 1 and 1000000000000),
  -- The signed sum: the sale and its fees at the rates that the till knew.
  value bigint not null check (value >= 0),
  -- By the till's clock.
  accepted_at timestamptz(3) not null,
  -- The same, at most 72 hours before it arrived and 5 minutes after: it decides the day of
  -- per_card_per_day.
  counted_at timestamptz(3) not null,
  status text collate "C" not null check (status in ('processing', 'succeeded', 'bounced')),
  bounce_reason text collate "C",
  -- The intent that settles it; `null` if it bounced when it was forwarded.
  payment_intent_id text collate "C",
  payment_id text collate "C",
  -- The intent has no settlement job, and may get one from this time on.
  retry_at timestamptz(3),
  check ((status = 'bounced') = (bounce_reason is not null)),
  check ((status = 'succeeded') = (payment_id is not null)),
  check (status = 'bounced' or payment_intent_id is not null),
  check (status = 'processing' or retry_at is null)
);

create unique index offline_payments_identity
  on offline_payments (nonce, payer_address, livemode);
create index offline_payments_list
  on offline_payments (account_id, livemode, created, position);
create index offline_payments_terminal on offline_payments (terminal_id, created, position);
create index offline_payments_status
  on offline_payments (status, account_id, livemode, created, position);
create unique index offline_payments_intent on offline_payments (payment_intent_id)
  where payment_intent_id is not null;
-- The sum of a card's day at a till.
create index offline_payments_card on offline_payments (payer_address, counted_at);
-- The sales of a till that are on their way.
create index offline_payments_under_way on offline_payments ((terminal_id || ''))
  where status = 'processing';
-- The cards that the merchant's tills refuse.
create index offline_payments_bounced on offline_payments ((account_id || ''), livemode)
  where status = 'bounced';
create index offline_payments_retry on offline_payments (retry_at) where retry_at is not null;
