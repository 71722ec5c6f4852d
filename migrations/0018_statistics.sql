-- Statistics of the dashboard.

-- One row per day and terminal, and one ('') for all terminals. A day is computed when it is first
-- requested after everything in it has ended, and never again, so that a chart of a year reads 365
-- rows however many payments there were. A row belongs to a time zone: after a change of the
-- account's zone the days are computed anew, and a reader that began before stores nothing under a
-- wrong day.
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
  -- Milliseconds from the tap to the settled payment; `null` without payments.
  settle_ms_median integer,
  settle_ms_p95 integer,
  -- Decline code to the number of intents whose last decline it was.
  declines jsonb not null,
  tips bigint not null default 0,
  time_zone text not null default 'UTC',
  -- Canceled by the shop before a pass was declined: these do not count in the success rate.
  called_off integer not null default 0,
  primary key (account_id, livemode, time_zone, day, terminal_id)
);

-- Hours that have ended, of days that have not, so that a chart does not count today's payments at
-- each request. An hour is counted once; its rows are deleted when its day is in statistics_days or
-- health_days. Hours begin with the account's day, so that in a zone with half an hour each still
-- has 60 minutes.
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
  -- Milliseconds from the tap to the settled payment, rounded to three digits, to the number of
  -- payments that took as long. A day's median cannot be computed from medians of hours.
  settle_ms jsonb not null,
  declines jsonb not null,
  called_off integer not null default 0,
  primary key (account_id, livemode, hour, terminal_id)
);

-- Calls of the merchant API per day, counted once the day has ended.
create table health_days (
  account_id text collate "C" not null,
  livemode boolean not null,
  day date not null,
  -- The zone that the day belongs to.
  time_zone text collate "C" not null,
  -- All calls, those with a 4xx, and those with a 5xx.
  requests integer not null,
  refused integer not null,
  failed integer not null,
  primary key (account_id, livemode, time_zone, day)
);

-- The same per hour, as in statistics_hours.
create table health_hours (
  account_id text collate "C" not null,
  livemode boolean not null,
  hour timestamptz(3) not null,
  requests integer not null,
  refused integer not null,
  failed integer not null,
  primary key (account_id, livemode, hour)
);
