-- How a merchant's own server and ours got on, by day: what the overview shows over days. Days that
-- are over are counted once, like those of statistics_days.
create table health_days (
  account_id text collate "C" not null,
  livemode boolean not null,
  day date not null,
  -- The zone whose day it is.
  time_zone text collate "C" not null,
  -- Calls of the merchant API: all, those with a 4xx, those with a 5xx.
  requests integer not null,
  refused integer not null,
  failed integer not null,
  primary key (account_id, livemode, time_zone, day)
);

-- Intents by the code of their last decline. Few intents are declined: no other write pays for it.
create index payment_intents_list_declined on payment_intents
  (account_id, livemode, (last_payment_error ->> 'decline_code'), created, position)
  where last_payment_error is not null;
