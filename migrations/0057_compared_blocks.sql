-- Up to which block the ledger is known to hold what the chain does. Null: never compared.
alter table network_recoveries add column compared_block bigint;
