-- What 0605 replaces.

alter table payment_intents drop constraint payment_intents_account_id_livemode_order_id_key;
drop index payment_intents_list_terminal, payment_intents_list_source,
  payment_intents_list_succeeded, payment_intents_list_canceled,
  payment_intents_list_declined;
drop index payments_list_terminal, payments_amount, payments_tx_hash, payments_list_refunded,
  payments_receipt_number, payments_recovered_order, payments_payer_account;
drop index refunds_list_payment, refunds_list_status, refunds_receipt_number;
drop index chain_transactions_open;
drop index events_list_type;
drop index webhook_due_turn;
