-- People at the till without a sign-in of their own, and PINs that lift limits.

create table staff (
  id text collate "C" primary key,
  account_id text collate "C" not null references accounts (id),
  name text not null,
  role text not null check (role in ('cashier', 'manager')),
  -- As in `memberships`.
  refund_limit bigint check (refund_limit between 0 and 1000000000000),
  refund_limit_presentment jsonb,
  may_discount boolean not null,
  version int not null default 1,
  created timestamptz(3) not null,
  -- A removed person keeps the row, because sales name it.
  removed_at timestamptz(3),
  -- The number in `Staff <n>`, which replaced the name.
  erased_as int,
  pin_hash text,
  pin_id uuid,
  long_pin_id uuid,
  pin_wrong_at timestamptz(3)[] not null default '{}',
  pin_blocked_until timestamptz(3),
  pin_wrong_today jsonb not null default '{}',
  pin_locked_at timestamptz(3),
  constraint staff_pin check ((pin_hash is null) = (pin_id is null)),
  constraint staff_removed check (removed_at is null or pin_hash is null)
);

create unique index staff_names on staff (account_id, lower(name)) where removed_at is null;
create unique index staff_erased on staff (account_id, erased_as) where erased_as is not null;

alter table memberships
  -- `null`: only the account's daily limit.
  alter column refund_limit drop not null,
  -- Equals `pin_id` if that PIN is known to have six digits or more. The release before changes
  -- `pin_id` alone, and its PIN then counts as shorter until the next right sign-in.
  add column long_pin_id uuid,
  -- Wrong PINs by terminal, with the start of the day in which they count.
  add column pin_wrong_today jsonb not null default '{}',
  -- Too many wrong PINs in a day: blocked until an admin unblocks the person.
  add column pin_locked_at timestamptz(3);

update memberships set refund_limit = null where role in ('owner', 'admin') and refund_limit = 0;

-- The people who can sign in at tills. `lifts` is true for people who may allow what others may
-- not. A PIN that is too short for that gives no unlimited refunds either.
create view till_people as
  select m.account_id, m.user_id as id, u.name, m.role,
    m.role in ('owner', 'admin') and coalesce(m.long_pin_id = m.pin_id, false) as lifts,
    case when m.role in ('owner', 'admin') and m.long_pin_id is distinct from m.pin_id
      then coalesce(m.refund_limit, 0) else m.refund_limit end as refund_limit,
    m.refund_limit_presentment, m.may_discount, m.pin_id
  from memberships m left join users u on u.id = m.user_id
  where m.pin_hash is not null
  union all
  select s.account_id, s.id, s.name, s.role, s.role = 'manager', s.refund_limit,
    s.refund_limit_presentment, s.may_discount, s.pin_id
  from staff s
  where s.pin_hash is not null;

-- `user_id` may now be the id of a staff member. The release before gives such a shift no rights.
alter table shifts drop constraint shifts_user_id_fkey;

-- A cash register refunds without a person. It could refund as much before people had PINs.
update terminals t set refund_limit = 500000000
where t.platform = 'reader' and t.refund_limit is null
  and exists (select from till_people p where p.account_id = t.account_id);
