-- Chips that sign payments themselves, as their owners have registered them: their limits and blocks
-- hold for the address, however its signature comes in.
create table chips (
  id text collate "C" primary key,
  payer_id text collate "C" not null references payers (id) on delete cascade,
  livemode boolean not null,
  -- With its checksum, as payers have theirs.
  address text collate "C" not null,
  label text not null default '',
  -- Atoms of sale and tip; null: as much as the chip holds.
  per_payment_limit bigint check (per_payment_limit between 1 and 1000000000000),
  blocked_at timestamptz(3),
  created timestamptz(3) not null,
  unique (livemode, address)
);

create index chips_payer on chips (payer_id, created, id);
