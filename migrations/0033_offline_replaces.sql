-- An offline sale may replace a payment intent that was left open: the forwarded record names it,
-- so that one cart is never paid twice.

-- `null` if the record named none, or one that the account did not know.
alter table offline_payments add column replaces text collate "C";
