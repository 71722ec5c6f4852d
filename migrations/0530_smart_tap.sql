-- Whether the reader of this terminal asks phones for passes of Google Wallet.
alter table terminals add column smart_tap boolean not null default false;

-- The keys by which readers of this network prove to phones whose they are. Google knows the public
-- halves. Two may be valid at a time, so that a new one can be registered before it is used.
create table collector_keys (
  version integer primary key check (version > 0),
  -- As Google gave it to the network.
  collector_id bigint not null check (collector_id between 1 and 4294967295),
  -- PEM.
  public_key text not null,
  -- Sealed; erased when the key ends.
  private_key bytea,
  created timestamptz(3) not null,
  -- Readers use the key that was put to use last.
  used_from timestamptz(3),
  ended_at timestamptz(3),
  check ((private_key is null) = (ended_at is not null))
);
