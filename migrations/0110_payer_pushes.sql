-- Where a payer's browser is rung while the wallet is closed (Web Push), for one sign-in, with which it ends.

create table payer_pushes (
  session_hash bytea primary key references payer_sessions (hash) on delete cascade,
  payer_id text collate "C" not null references payers (id),
  -- A secret between the browser, its push service and us.
  endpoint text not null,
  created timestamptz(3) not null,
  -- The end of the newest question that it was rung for: whoever moves it rings.
  rung_until timestamptz(3)
);

create index payer_pushes_payer on payer_pushes (payer_id);
