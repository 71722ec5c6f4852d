-- Books with taxes: the accounts of the DATEV export, and days that do not start at midnight.

alter table accounts
  -- {chart, revenue, tips, clearing, bank, rounding}. `null` until the shop has set them.
  add column datev jsonb,
  -- {at, test, live}: the newest setting and, for the clock of each mode, [{from, at}]: the first day
  -- that starts at this time. A change adds a rule, so that days of the past keep their bounds. `null`:
  -- all days start at 00:00.
  add column day_starts jsonb;

-- A change of the start of days moves the ends of periods, like a change of the time zone.
create or replace trigger accounts_mark_period_ends
  after update of automatic_payout, export_schedule, time_zone, day_starts, status on accounts
  for each row
  when (old.automatic_payout is distinct from new.automatic_payout
    or old.export_schedule is distinct from new.export_schedule
    or old.time_zone is distinct from new.time_zone
    or old.day_starts is distinct from new.day_starts
    or old.status is distinct from new.status)
  execute function mark_period_ends();
