-- A transaction that is in a block and does not count yet, because one of its payments waits for
-- more (CHAIN_…_COUNTS_FROM): since when, and what for. Both null: it is in no block, or it counts.
alter table chain_transactions
  add column included_at timestamptz,
  add column waits_for text check (waits_for in ('time', 'safe', 'finalized'));
