-- What the contract's event names a refund by. Null: a withdrawal, or read by an earlier release.
alter table chain_transfers add column reference bytea;
