-- Refunds. A refund reserves its amount on the payment before it becomes a settlement job.
create table refunds (
  id text collate "C" primary key,
  account_id text collate "C" not null,
  livemode boolean not null,
  position bigint not null,
  created timestamptz(3) not null,
  updated timestamptz(3) not null,
  payment_id text collate "C" not null references payments (id),
  amount bigint not null check (amount between 1 and 1000000000000),
  status text not null check (status in ('pending', 'succeeded', 'failed')),
  reason text,
  failure_code text,
  failure_message text,
  tx_hash text collate "C",
  source text not null check (source in ('api', 'terminal', 'dashboard')),
  metadata jsonb not null,
  -- Identifies the refund in the contract's event; `null` if it was requested without one.
  reference bytea check (octet_length(reference) = 16),
  -- Rebuilt from the chain after the database had lost the row.
  recovered boolean not null default false,
  -- From the terminal's receipt_series; `null` until the refund succeeds.
  receipt_number text collate "C",
  -- Its payment's quote, with the amount that this refund returns in that currency.
  presentment jsonb,
  -- Minor units, if the refund was requested in them: see src/refunds/refund-share.ts.
  presentment_part bigint check (presentment_part > 0),
  -- The payment's refunded amount before this refund was booked, which orders its refunds for their
  -- taxes: see src/prices/refund-taxes.ts. `null` until it succeeds.
  refunded_before bigint check (refunded_before >= 0),
  check (presentment_part is null or presentment is not null),
  check ((status = 'failed') = (failure_code is not null))
);

-- See 0009_payments.sql.
alter table refunds alter column status set (n_distinct = 3);

create index refunds_list on refunds (account_id, livemode, created, position);
create index refunds_payment
  on refunds (payment_id, created, position);
create index refunds_status
  on refunds (status, account_id, livemode, created, position);
create unique index refunds_receipt
  on refunds (receipt_number, account_id, livemode) where receipt_number is not null;
create unique index refunds_reference on refunds (livemode, reference)
  where reference is not null;
-- Refunds since the last reconciliation run.
create index refunds_changed on refunds (livemode, updated) where status = 'succeeded';

-- How much the users of an account have requested to refund on a UTC day, in live mode. Above a
-- daily sum a second factor is needed, so that a stolen session cannot exceed it by many small
-- refunds.
create table refund_days (
  account_id text collate "C" primary key references accounts (id),
  day date not null,
  requested bigint not null
);

-- Receipts that the account's fiscal signer signs: a row for each payment and refund that was booked
-- while the account named a signer, inserted in the transaction that books it. A worker sends them, or
-- the terminal of the payment does.
create table fiscal_receipts (
  -- The payment or the refund.
  subject_id text collate "C" primary key,
  payment_id text collate "C" not null references payments (id),
  account_id text collate "C" not null,
  livemode boolean not null,
  terminal_id text collate "C" not null,
  receipt_number text collate "C" not null,
  created timestamptz(3) not null,
  -- Requests of workers so far.
  attempts integer not null default 0,
  -- The next request; `null` if the receipt was signed, the last request of the schedule failed, or
  -- a terminal sends it.
  due_at timestamptz(3),
  signature text,
  text text,
  signed_at timestamptz(3),
  -- Why the last request brought no signature.
  last_error text,
  unique (account_id, livemode, receipt_number),
  check ((signature is null) = (signed_at is null)),
  check (signature is null or due_at is null)
) with (fillfactor = 80);

create index fiscal_receipts_due on fiscal_receipts (due_at) where due_at is not null;
-- The receipts that a terminal sends, oldest first.
create index fiscal_receipts_terminal on fiscal_receipts (terminal_id, created, subject_id)
  where signature is null;
-- The receipts that wait for a signature, for a signer that was changed.
create index fiscal_receipts_unsigned on fiscal_receipts (account_id) where signature is null;
