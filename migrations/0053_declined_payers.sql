-- The payer whose attempt to pay an intent was declined last, so that the payer's wallet shows the decline.
-- `null` if none was, if the credential was unknown, and for agent tokens.
alter table payment_intents add column declined_payer_id text collate "C";
