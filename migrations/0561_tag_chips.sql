-- A tag may be a chip that signs each tap (NTAG 424 DNA). Its keys are this number under the id key
-- (src/terminals/tag-chip.ts): nothing is stored that makes a message of it.
create table tag_chips (
  terminal_id text collate "C" primary key references terminals (id) on delete cascade,
  chip uuid not null,
  -- The highest count that was accepted. A chip's own count is never below 0.
  counter integer not null default -1 check (counter between -1 and 16777215),
  -- Of the chip, 14 hex digits: bound by the first accepted tap.
  uid text collate "C" check (uid ~ '^[0-9A-F]{14}$'),
  created timestamptz(3) not null
);
