-- Looking payments up by what a person has at hand. An order id is found through the intent's own
-- unique index; what is here are the two that nothing else serves.
create index payments_tx_hash on payments (account_id, livemode, tx_hash);
create index payments_amount on payments (account_id, livemode, amount, created, position);

-- Figures of days that are over, one row per terminal and one ('') for all of them. Computed when
-- first asked for, after everything of the day has ended, and never again: a chart over a year
-- reads 365 rows however many payments there were.
create table statistics_days (
  account_id text collate "C" not null,
  livemode boolean not null,
  day date not null,
  terminal_id text collate "C" not null,
  intents integer not null,
  succeeded integer not null,
  canceled integer not null,
  payments integer not null,
  volume bigint not null,
  refunds integer not null,
  refunded bigint not null,
  -- Milliseconds from the tap to the settled payment; null without payments.
  settle_ms_median integer,
  settle_ms_p95 integer,
  -- Decline code to the number of intents whose last decline it was.
  declines jsonb not null,
  primary key (account_id, livemode, day, terminal_id)
);
