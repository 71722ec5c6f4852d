-- Up to where reconciliation has compared refunds and withdrawals, so that a run reads only what
-- has changed since. Null: everything is to be compared.
alter table reconciliation_cursors
  add column compared_block bigint,
  add column compared_at timestamptz(3);

create index refunds_changed on refunds (livemode, updated) where status = 'succeeded';
create index withdrawals_changed on withdrawals (livemode, updated) where status = 'succeeded';
create index chain_transfers_number on chain_transfers (livemode, number);
create index chain_requests_withdrawals on chain_requests (livemode, number)
  where kind = 'withdrawal';
