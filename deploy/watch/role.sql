-- The database role of a watchtower (`--roles watch`). Run it as the owner of the tables, once they
-- are there, and again after each update:
--
--   psql "$DATABASE_URL" -v password="'…'" -f deploy/watch/role.sql
--
-- It reads everything, and writes nothing of the ledger: only alarms, mails that wait with the
-- links in them, and its own tables.
select 'create role tapline_watch login'
where not exists (select from pg_roles where rolname = 'tapline_watch') \gexec
alter role tapline_watch password :password;

grant usage on schema public to tapline_watch;
grant select on all tables in schema public to tapline_watch;
grant insert on chain_alarms, mail_outbox, payout_hold_links to tapline_watch;
-- What it has seen of the database, as every process does.
grant insert, update on database_watermarks to tapline_watch;
grant insert, update on watch_cursors, watch_findings, watch_steps to tapline_watch;
