-- Each process keeps a mark in its data folder, beside the database: how far the log has come, and
-- a generation that it counts up here. A copy that is put back holds an earlier one, or none.
create table database_marks (
  id text collate "C" primary key,
  generation bigint not null
);
