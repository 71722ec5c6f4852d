-- concurrently
-- Each index of a table begins with a column of its own. A plan is made while a table is nearly
-- empty; of two indexes that begin with the account, the wrong one then seems as good as the right
-- one, and each sale reads all of the account's (docs/decisions/plans.md).

create unique index concurrently if not exists payment_intents_order_id
  on payment_intents (order_id, account_id, livemode);
create index concurrently if not exists payment_intents_terminal
  on payment_intents (terminal_id, created, position);
create index concurrently if not exists payment_intents_source
  on payment_intents (source, account_id, livemode, created, position);
create index concurrently if not exists payment_intents_succeeded
  on payment_intents ((account_id || ''), livemode, created, position)
  where status = 'succeeded';
create index concurrently if not exists payment_intents_canceled
  on payment_intents ((account_id || ''), livemode, created, position)
  where status = 'canceled';
create index concurrently if not exists payment_intents_decline_code
  on payment_intents
    ((last_payment_error ->> 'decline_code'), account_id, livemode, created, position)
  where last_payment_error is not null;

create index concurrently if not exists payments_terminal
  on payments (terminal_id, created, position);
create index concurrently if not exists payments_of_amount
  on payments (amount, account_id, livemode, created, position);
create index concurrently if not exists payments_transaction on payments (tx_hash);
create index concurrently if not exists payments_refunded
  on payments ((account_id || ''), livemode, created, position) where amount_refunded > 0;
create unique index concurrently if not exists payments_receipt
  on payments (receipt_number, account_id, livemode) where receipt_number is not null;
create index concurrently if not exists payments_recovered
  on payments (order_id, account_id, livemode) where recovered;
create index concurrently if not exists payments_payer_here
  on payments ((payer_id || account_id), settled_at);

create index concurrently if not exists refunds_payment
  on refunds (payment_id, created, position);
create index concurrently if not exists refunds_status
  on refunds (status, account_id, livemode, created, position);
create unique index concurrently if not exists refunds_receipt
  on refunds (receipt_number, account_id, livemode) where receipt_number is not null;

create index concurrently if not exists chain_transactions_under_way
  on chain_transactions (status, livemode, lane, nonce) where status in ('signed', 'mined');

create index concurrently if not exists webhook_due_next
  on webhook_due ((endpoint_id || ''), due_at);

create index concurrently if not exists events_type
  on events (type, account_id, livemode, created, position);
