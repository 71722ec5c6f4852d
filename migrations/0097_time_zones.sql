-- The zone in which an account's people count days. Kept figures belong to the zone whose day they
-- are of: a change of the zone leaves them behind, and a reader that began before it keeps nothing
-- under a wrong day. An older release keeps UTC days, which is the default.
alter table accounts add column time_zone text not null default 'UTC';
alter table statistics_days add column time_zone text not null default 'UTC';
alter table statistics_days drop constraint statistics_days_pkey;
alter table statistics_days
  add primary key (account_id, livemode, time_zone, day, terminal_id);
