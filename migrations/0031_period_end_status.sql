-- A period that ended while the account was disabled is due when the account is enabled again.

create or replace trigger accounts_mark_period_ends
  after update of automatic_payout, export_schedule, time_zone, status on accounts for each row
  when (old.automatic_payout is distinct from new.automatic_payout
    or old.export_schedule is distinct from new.export_schedule
    or old.time_zone is distinct from new.time_zone
    or old.status is distinct from new.status)
  execute function mark_period_ends();
