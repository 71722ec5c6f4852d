-- The gas that a mined transaction used, so that operators see the gas per payment over time. `null` until it
-- is mined, and for transactions that an earlier release recorded as mined.
alter table chain_transactions add column gas_used bigint;
