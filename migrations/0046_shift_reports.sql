-- Each shift that ends has a report with everything booked at its terminal after the terminal's previous
-- report, in the account's commit order.

alter table shifts
  -- `null` if no person is signed in, which is possible while nobody in the account has a PIN.
  alter column user_id drop not null;

alter table receipt_series
  drop constraint receipt_series_kind_check,
  add constraint receipt_series_kind_check check (kind in ('payment', 'refund', 'shift'));

create table shift_reports (
  id text collate "C" primary key references shifts (id),
  account_id text collate "C" not null references accounts (id),
  livemode boolean not null,
  -- The end of the report in the account's order: it holds the rows of its terminal from there back to
  -- `previous_position`, where the terminal's previous report ends (`null` for its first).
  created timestamptz(3) not null,
  position bigint not null,
  terminal_id text collate "C" not null references terminals (id),
  previous_position bigint check (previous_position < position),
  -- The prefix of the terminal's receipt_series of kind `shift`. A new one begins after a data loss.
  series text collate "C" not null,
  number bigint not null check (number > 0),
  previous_number bigint generated always as (nullif(number - 1, 0)) stored,
  -- The JSON of the report, as every reader gets it.
  body text not null,
  unique (terminal_id, position),
  -- Reports neither overlap nor leave rows out: each begins where an earlier one ends, and no two at the
  -- same position.
  unique nulls not distinct (terminal_id, previous_position),
  foreign key (terminal_id, previous_position) references shift_reports (terminal_id, position),
  -- Numbers have no gaps.
  unique (terminal_id, series, number),
  foreign key (terminal_id, series, previous_number)
    references shift_reports (terminal_id, series, number)
);

create index shift_reports_list on shift_reports (account_id, livemode, created, position);
create index shift_reports_terminal on shift_reports (terminal_id, created, position);

create function shift_reports_never_change() returns trigger language plpgsql as $$
begin
  raise exception 'the report of a shift that has ended never changes';
end $$;

create trigger shift_reports_no_change before update or delete on shift_reports
  for each row execute function shift_reports_never_change();

alter table accounts
  -- The address to which the reports of shifts are mailed, once the link in a mail has confirmed it.
  add column report_email text,
  -- The address that has not been confirmed yet.
  add column report_email_asked text;

alter table person_links
  drop constraint person_links_kind_check,
  add constraint person_links_kind_check
    check (kind in ('not_me', 'trust_factor', 'recover_factor', 'report_email'));
