-- Merchants of two contract versions can have the same number on their contracts, and then the same
-- nonce for the same sum and salt. So an offline sale is identified within its account.

drop index offline_payments_identity;
create unique index offline_payments_identity
  on offline_payments (nonce, payer_address, livemode, account_id);
