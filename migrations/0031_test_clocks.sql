-- How far a test account has moved its clock ahead. Nothing reads time from here: advancing the
-- clock brings every deadline of the account's test mode nearer by the same span, so workers,
-- readers and rules go on with the one clock that they have, and no code path is for tests only.

create table test_clocks (
  account_id text collate "C" primary key references accounts (id),
  advanced_seconds bigint not null check (advanced_seconds >= 0)
);
