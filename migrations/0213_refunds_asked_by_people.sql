-- How much an account's people have asked to give back on a UTC day, in live mode: above a sum a
-- stolen session must not be enough, however many small refunds it is made of.
create table refund_days (
  account_id text collate "C" primary key references accounts (id),
  day date not null,
  asked bigint not null
);
