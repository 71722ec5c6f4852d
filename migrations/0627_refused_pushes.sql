-- A push service may refuse every notification of this network (403: it does not accept
-- VAPID_SUBJECT, or the key). The browser is not notified then, and the wallet must not say that it
-- is. The next notification that is accepted clears it.
alter table payer_pushes add column refused_at timestamptz(3);
