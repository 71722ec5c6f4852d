-- Anchors of the audit log: once a day one process writes the heads of the chains down elsewhere.

-- One row: the last day (UTC) whose anchor was taken, and until when a process is at work on the next.
create table audit_anchor_state (
  one boolean primary key default true check (one),
  anchored_day date not null,
  claimed_until timestamptz(3) not null
);
insert into audit_anchor_state (anchored_day, claimed_until) values ('2000-01-01', '2000-01-01Z');

-- What was last anchored of each chain. It only says what has moved since; the proof is elsewhere.
create table audit_anchors (
  chain text collate "C" primary key,
  sequence bigint not null,
  hash bytea not null,
  anchored_at timestamptz(3) not null
);
