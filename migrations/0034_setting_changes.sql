-- Changed settings of live accounts, for one mail per owner, kind of setting and hour.

-- The changes that no mail has listed yet.
create table setting_changes (
  id bigint generated always as identity primary key,
  account_id text collate "C" not null references accounts (id),
  kind text not null check (kind in ('outward', 'printed')),
  -- The user who made the change.
  user_id text collate "C" not null references users (id),
  -- The account, location, item or terminal, and the names of its changed fields.
  object_id text collate "C" not null,
  fields text[] not null,
  created timestamptz(3) not null
);

create index setting_changes_account on setting_changes (account_id, kind);

create table setting_mails (
  account_id text collate "C" not null references accounts (id),
  kind text not null check (kind in ('outward', 'printed')),
  -- The time of the last mail. The next one is sent an hour later at the earliest.
  mailed_at timestamptz(3) not null,
  primary key (account_id, kind)
);
