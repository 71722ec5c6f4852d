-- Requests that are done, though no transaction here carries them: an earlier one had done it, or
-- recovery found it on the chain. Until their blocks are final, a reorganisation can undo them.
create index if not exists chain_requests_answered
  on chain_requests (livemode, ((outcome #>> '{facts,blockNumber}')::bigint))
  where transaction_id is null and status = 'succeeded';
