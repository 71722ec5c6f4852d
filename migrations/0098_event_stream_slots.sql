-- Open event streams per API key, over all processes: a key has 20 places, whoever serves them.

-- Unlogged: a place is a lease of seconds, and after a crash all connections are gone anyway.
create unlogged table event_stream_slots (
  key_id text collate "C" not null,
  slot smallint not null check (slot between 1 and 20),
  held_until timestamptz(3) not null,
  primary key (key_id, slot)
);
