-- How many payments the coin of a worker's lanes still pays for, at the fees of its last look. null:
-- not known yet, or gas costs nothing there. A worker of the release before writes none.
alter table relayer_workers add column payments_left bigint;
