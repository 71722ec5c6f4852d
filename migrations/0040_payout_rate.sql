-- See 0037_payment_taxes.sql; `null` until the payout succeeds.
alter table withdrawals add column shop_rate text collate "C";
