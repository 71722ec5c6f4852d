-- Numbers of receipts: 1, 2, 3 … for each terminal, without gaps, given in the transaction that
-- books the payment or the refund. A series belongs to a terminal; its prefix is drawn at random, so
-- that a database which was put back to an earlier state does not give a number twice: after a loss
-- every series ends, and the next one has another prefix. Rows are updated in place, under the
-- account's order lock.
create table receipt_series (
  account_id text collate "C" not null,
  livemode boolean not null,
  prefix text collate "C" not null,
  terminal_id text collate "C" not null references terminals (id),
  kind text not null check (kind in ('payment', 'refund')),
  -- The last number that was given.
  given bigint not null check (given >= 0),
  begun_at timestamptz(3) not null,
  ended_at timestamptz(3),
  -- Begun because a loss was shown: the report of the recovery names it.
  after_loss boolean not null default false,
  primary key (account_id, livemode, prefix)
) with (fillfactor = 50);

create unique index receipt_series_current on receipt_series (terminal_id, kind)
  where ended_at is null;

-- null: booked before there were numbers, or a refund that has not succeeded.
alter table payments add column receipt_number text collate "C";
create unique index payments_receipt_number on payments (account_id, livemode, receipt_number)
  where receipt_number is not null;
alter table refunds add column receipt_number text collate "C";
create unique index refunds_receipt_number on refunds (account_id, livemode, receipt_number)
  where receipt_number is not null;
