-- A merchant's logo and color, as payers see them beside its name.
create table brand_logos (
  -- The first 32 hex digits of the SHA-256 of its account and bytes: part of its address.
  id text primary key check (id ~ '^[0-9a-f]{32}$'),
  account_id text not null references accounts (id),
  -- A PNG.
  content bytea not null check (octet_length(content) <= 102400),
  created timestamptz(3) not null
);
create index on brand_logos (account_id);

create table account_brands (
  account_id text primary key references accounts (id),
  color text check (color ~ '^[0-9a-f]{6}$'),
  logo_id text references brand_logos (id),
  -- What the file of its styles is called: the name says all that is in it.
  style text not null generated always as
    (coalesce(color, 'none') || '-' || coalesce(logo_id, 'none')) stored,
  updated timestamptz(3) not null,
  check (color is not null or logo_id is not null)
);
