-- Which cell this database is of: its first start says it (docs/decisions/cells.md).
create table own_cell (
  is_one boolean primary key default true check (is_one),
  cell smallint not null check (cell between 0 and 9)
);

-- A database that is in use is the first cell's.
insert into own_cell (cell) select 0 where exists (select from accounts);

-- What was presented in other cells, and what this one, its home, answered. Of what is good once a
-- row says for which intent; of a pass, that the cell keeps the answer for a minute.
create table visits (
  presented bytea not null,
  cell smallint not null,
  intent_id text collate "C" not null,
  -- The pass whose end the cell has to hear of, also when its row is erased; null: it keeps nothing.
  pass_id text collate "C",
  answer jsonb not null,
  at timestamptz(3) not null,
  primary key (presented, cell)
);

create index visits_at on visits (at);
create index visits_pass on visits (pass_id) where pass_id is not null;

-- Passes of other cells, as their homes described them.
create table visiting_passes (
  presented bytea primary key,
  answer jsonb not null,
  asked_at timestamptz(3) not null
);

create index visiting_passes_asked_at on visiting_passes (asked_at);
