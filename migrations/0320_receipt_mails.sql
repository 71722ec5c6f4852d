-- How often the receipt of a payment was mailed from a till: at most three times, for ever. Where to
-- is not kept.
create table receipt_mails (
  payment_id text collate "C" primary key references payments (id),
  sent smallint not null check (sent between 1 and 3)
);
