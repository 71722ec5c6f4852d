-- A refund names the sum that was refunded of its payment before it, instead of an index. The
-- columns stay for the release before; nothing fills them any more.
drop index if exists chain_requests_refund_index;
alter table chain_transfers drop constraint chain_transfers_check;
