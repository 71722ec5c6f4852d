-- Of the network's staff: `support` sees everything and changes nothing.
alter table users add column staff_role text not null default 'operator'
  check (staff_role in ('operator', 'support'));
