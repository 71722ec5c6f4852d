-- Creates the database role of a watchtower (`--roles watch`). Run this as a superuser, because it
-- creates a role, after the first migration and after each update:
--   psql -U postgres -d tapline -v password="'…'" -f deploy/watch/role.sql
-- The role may read everything. It may write only alarms, queued emails with the links in them, and
-- its own tables, but not the ledger.
select 'create role tapline_watch login'
where not exists (select from pg_roles where rolname = 'tapline_watch') \gexec
alter role tapline_watch password :password;

grant usage on schema public to tapline_watch;
grant select on all tables in schema public to tapline_watch;
grant insert on chain_alarms, mail_outbox, payout_hold_links to tapline_watch;
-- The watchtower's watermarks of the database. Every process stores its own.
grant insert, update on database_watermarks to tapline_watch;
grant insert, update on watch_cursors, watch_findings, watch_steps to tapline_watch;
