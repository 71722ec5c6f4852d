-- Lists by status. What is created is open, so no create writes these two.
create index payment_intents_list_succeeded
  on payment_intents (account_id, livemode, created, position) where status = 'succeeded';
create index payment_intents_list_canceled
  on payment_intents (account_id, livemode, created, position) where status = 'canceled';

-- A payment is found by its order through its intent, whose order ids are unique. Only what was
-- rebuilt may keep an order id that is another intent's by now.
create index payments_recovered_order on payments (account_id, livemode, order_id)
  where recovered;
