-- Stores the settings that the service sends with each connection, and that a pooler drops, in a
-- role:
--   psql -v role=tapline_owner -f deploy/pgbouncer/role.sql
alter role :"role" set enable_seqscan = off;
alter role :"role" set random_page_cost = 1.1;
alter role :"role" set jit = off;
alter role :"role" set plan_cache_mode = force_generic_plan;
alter role :"role" set statement_timeout = '25s';
alter role :"role" set idle_in_transaction_session_timeout = '15s';
