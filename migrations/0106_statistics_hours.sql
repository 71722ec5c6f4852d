-- Figures of hours that are over, for days that are not: without them every look at a chart counted
-- today, and until two in the morning yesterday too, payment by payment. An hour is counted once;
-- its rows go when its day is kept in statistics_days or health_days. Hours begin with the
-- account's day, so a zone with half an hour has hours of its own, and each holds 60 minutes.
create table statistics_hours (
  account_id text collate "C" not null,
  livemode boolean not null,
  hour timestamptz(3) not null,
  terminal_id text collate "C" not null,
  intents integer not null,
  succeeded integer not null,
  canceled integer not null,
  payments integer not null,
  volume bigint not null,
  tips bigint not null,
  refunds integer not null,
  refunded bigint not null,
  -- Milliseconds from the tap to the settled payment, with three digits, to the number of payments
  -- that took as long: medians of hours do not add up, these do.
  settle_ms jsonb not null,
  declines jsonb not null,
  primary key (account_id, livemode, hour, terminal_id)
);

create table health_hours (
  account_id text collate "C" not null,
  livemode boolean not null,
  hour timestamptz(3) not null,
  requests integer not null,
  refused integer not null,
  failed integer not null,
  primary key (account_id, livemode, hour)
);

-- Deliveries of the events of days that are over and of which no delivery waits. A resend or a
-- replay takes the day out again, under the same lock as its counting.
create table delivery_days (
  endpoint_id text collate "C" not null references webhook_endpoints (id) on delete cascade,
  time_zone text collate "C" not null,
  day date not null,
  delivered integer not null,
  undelivered integer not null,
  primary key (endpoint_id, time_zone, day)
);
