-- Which withdrawals and refunds a balance that was read at some block does not know yet: the few
-- that were mined after it.
create index chain_transactions_paid_out on chain_transactions (livemode, block_number)
  where kind in ('refund', 'withdrawal');
