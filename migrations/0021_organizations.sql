-- Organizations: accounts under one roof, their people, and the locations where they sell.

create table organizations (
  id text collate "C" primary key,
  name text not null,
  created timestamptz(3) not null
);

-- A person's role in an organization, which the person also has in each of its accounts.
create table organization_members (
  organization_id text collate "C" not null references organizations (id),
  user_id text collate "C" not null references users (id),
  role text not null check (role in ('owner', 'admin', 'member', 'viewer', 'cashier')),
  created timestamptz(3) not null,
  primary key (organization_id, user_id)
);

create index organization_members_user on organization_members (user_id);

alter table accounts add column organization_id text collate "C" references organizations (id);
create index accounts_organization on accounts (organization_id)
  where organization_id is not null;

-- The roles of people in accounts: their own, and those of the account's organization. A person who
-- has both has two rows, and the rights of the higher role.
create view account_rights as
  select account_id, user_id, role, created from memberships
  union all
  select a.id, o.user_id, o.role, o.created
  from accounts a join organization_members o on o.organization_id = a.organization_id;

-- An invitation is to an account or to an organization.
alter table invitations alter column account_id drop not null;
alter table invitations
  add column organization_id text collate "C" references organizations (id);
alter table invitations add constraint invitations_to_one
  check (num_nonnulls(account_id, organization_id) = 1) not valid;
create unique index invitations_open_organization on invitations (organization_id, email)
  where accepted_at is null and revoked_at is null;

-- A place where an account sells, in both modes. Its days begin at midnight in its own zone.
create table locations (
  id text collate "C" primary key,
  account_id text collate "C" not null references accounts (id),
  name text not null,
  address text,
  time_zone text not null,
  -- The prices and the language of its tills; `null` for the account's.
  currency text collate "C" check (currency ~ '^[a-z]{3}$'),
  language text check (language in ('en', 'de', 'fr', 'es', 'pt', 'ja', 'ar')),
  tax_rates jsonb,
  version integer not null default 1,
  created timestamptz(3) not null
);

create index locations_account on locations (account_id, created);

alter table terminals add column location_id text collate "C" references locations (id);
-- The terminal's location when the sale was created. What was sold keeps it.
alter table payment_intents add column location_id text collate "C";
alter table payments add column location_id text collate "C";
alter table refunds add column location_id text collate "C";
-- See 0009_payments.sql.
alter table payment_intents alter column location_id set (n_distinct = 1000);
alter table payments alter column location_id set (n_distinct = 1000);
alter table refunds alter column location_id set (n_distinct = 1000);
