-- When the current day, week or month of an account ends: at that moment a balance is paid out by
-- itself, or a statement is announced. Workers look for due rows every second, so the moment is
-- stored with an index instead of being computed for each account from its time zone.

create table period_ends (
  account_id text collate "C" not null references accounts (id),
  livemode boolean not null,
  task text not null check (task in ('payout', 'export')),
  -- By the service's clock. Never later than the end of the period; a worker that finds that none
  -- has ended moves it on.
  due timestamptz(3) not null,
  primary key (account_id, livemode, task)
);

create index period_ends_due on period_ends (task, due);

-- The trigger binds every statement that changes a setting or a time zone, also those of the
-- previous release: a period end that is forgotten would delay payouts without anyone noticing.
create function mark_period_ends() returns trigger language plpgsql as $$
begin
  delete from period_ends where account_id = new.id
    and (task = 'payout' and new.automatic_payout is null
      or task = 'export' and new.export_schedule is null);
  insert into period_ends (account_id, livemode, task, due)
  select new.id, m.livemode, t.task, to_timestamp(0)
  from (values (false), (true)) as m (livemode),
    (values ('payout', new.automatic_payout is not null),
      ('export', new.export_schedule is not null)) as t (task, is_set)
  where t.is_set
  on conflict (account_id, livemode, task) do update set due = excluded.due;
  return null;
end $$;

create trigger accounts_mark_period_ends
  after update of automatic_payout, export_schedule, time_zone on accounts for each row
  when (old.automatic_payout is distinct from new.automatic_payout
    or old.export_schedule is distinct from new.export_schedule
    or old.time_zone is distinct from new.time_zone)
  execute function mark_period_ends();

insert into period_ends (account_id, livemode, task, due)
select a.id, m.livemode, t.task, to_timestamp(0)
from accounts a, (values (false), (true)) as m (livemode),
  (values ('payout'), ('export')) as t (task)
where t.task = 'payout' and a.automatic_payout is not null
  or t.task = 'export' and a.export_schedule is not null;
