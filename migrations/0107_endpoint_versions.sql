-- People edit webhook endpoints too. `version` counts changes: an edit in the dashboard names the
-- version that it saw, and a stale one is refused instead of undoing a colleague's.
alter table webhook_endpoints add column version integer not null default 1;
