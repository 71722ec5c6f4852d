-- What was done on the contract before this block is older than the service, and no news. It is set
-- once, when an empty ledger reads the chain for the first time; 0: everything is news.
alter table reconciliation_cursors add column watched_from bigint not null default 0;
