-- Settings that the service sends with each connection, and that a pooler drops.
alter role tapline set enable_seqscan = off;
alter role tapline set jit = off;
alter role tapline set plan_cache_mode = force_generic_plan;
alter role tapline set statement_timeout = '25s';
alter role tapline set idle_in_transaction_session_timeout = '15s';
