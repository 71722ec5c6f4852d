-- concurrently
-- A wallet asks for the latest declines of its payer. Only declines write this index.
create index concurrently if not exists payment_intents_declined_payer
  on payment_intents (declined_payer_id, (last_payment_error ->> 'created') collate "C")
  where declined_payer_id is not null;
