-- concurrently
-- Lists of one location. Sales without a location write none of these.
create index concurrently if not exists payment_intents_location
  on payment_intents (location_id, livemode, created, position) where location_id is not null;
create index concurrently if not exists payments_location
  on payments (location_id, livemode, created, position) where location_id is not null;
create index concurrently if not exists refunds_location
  on refunds (location_id, livemode, created, position) where location_id is not null;
