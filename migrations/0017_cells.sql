-- Credentials that are presented in another cell than their own (docs/decisions/cells.md).

-- Visits of this cell's credentials in other cells, and this cell's answers. A single-use
-- credential counts as used once a row names its intent; for a pass, the other cell caches the
-- answer for a minute.
create table visits (
  presented bytea not null,
  cell smallint not null,
  intent_id text collate "C" not null,
  -- The pass whose revocation the other cell must learn of, even after its row is erased; `null` if
  -- that cell caches nothing.
  pass_id text collate "C",
  answer jsonb not null,
  at timestamptz(3) not null,
  primary key (presented, cell)
);

create index visits_at on visits (at);
create index visits_pass on visits (pass_id) where pass_id is not null;

-- Passes of other cells, as their own cells described them.
create table visiting_passes (
  presented bytea primary key,
  answer jsonb not null,
  asked_at timestamptz(3) not null
);

create index visiting_passes_asked_at on visiting_passes (asked_at);
