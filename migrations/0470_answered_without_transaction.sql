-- concurrently
-- formerly 0c0b08c020012ef7efc824f8329e10f89a384151776073958aed01fa9145614b
-- Requests that are done, though no transaction here carries them: an earlier one had done it, or
-- recovery found it on the chain. Until their blocks are final, a reorganization can undo them.
create index concurrently if not exists chain_requests_answered
  on chain_requests (livemode, ((outcome #>> '{facts,blockNumber}')::bigint))
  where transaction_id is null and status = 'succeeded';
