-- baseline
-- A network's data about itself: its keys, the cell that it belongs to, and the watermarks by which
-- a process detects that the database was replaced.

-- Random keys, made at the first start, encrypted under TAPLINE_SECRET and part of every backup.
-- `ids` is the key from which ids are derived, so that a lost row gets its id back.
create table service_keys (
  name text primary key,
  sealed bytea not null,
  created timestamptz(3) not null default now()
);

-- Each process also keeps a watermark in its data folder: its position in the write-ahead log and
-- the generation that it last wrote here. A restored copy of the database has an older row, or
-- none.
create table database_watermarks (
  id text collate "C" primary key,
  generation bigint not null
);

-- The cell that this database belongs to, written by its first start (docs/decisions/cells.md).
create table own_cell (
  is_one boolean primary key default true check (is_one),
  cell smallint not null check (cell between 0 and 9)
);
