-- Copies of passes in Google Wallet and Apple Wallet, which have to hear of every change. A change is
-- counted in its transaction (asked); a worker tells the wallet and notes how far it came (told).
create table pass_copies (
  -- No reference: a pass that was erased still has to be made void in the phone.
  pass_id text collate "C" not null,
  wallet text not null check (wallet in ('google', 'apple')),
  created timestamptz(3) not null,
  changed_at timestamptz(3) not null,
  asked bigint not null default 0,
  told bigint not null default 0 check (told <= asked),
  -- Since it was last told.
  tries integer not null default 0,
  next_try_at timestamptz(3) not null,
  -- The pass was erased then, and the copy is dropped a month later.
  erased_at timestamptz(3),
  primary key (pass_id, wallet)
);

create index pass_copies_due on pass_copies (next_try_at) where told < asked;
create index pass_copies_erased on pass_copies (erased_at) where erased_at is not null;

-- iPhones and watches that keep a pass, as Apple names them, and where each is told of a change.
create table apple_devices (
  device text collate "C" not null,
  pass_id text collate "C" not null,
  push_token text collate "C" not null,
  created timestamptz(3) not null,
  primary key (device, pass_id)
);

create index apple_devices_pass on apple_devices (pass_id);
