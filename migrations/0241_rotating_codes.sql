-- Codes that change every half minute (RFC 6238), shown by the wallet app or a phone's own wallet.
create table rotating_keys (
  pass_id text collate "C" primary key references passes (id) on delete cascade,
  -- Sealed.
  key bytea not null,
  created timestamptz(3) not null,
  -- Of the code that was accepted last: each step pays once. -1: none yet.
  last_step bigint not null default -1,
  -- Codes of this step and before may have been used in time that the database has lost.
  lost_step bigint not null default -1,
  -- When wrong codes came, within the last ten minutes.
  wrong_at timestamptz(3)[] not null default '{}',
  blocked_until timestamptz(3)
);
