-- Where an intent belongs to in somebody's trace (W3C traceparent): written while the create is
-- traced, read by whoever pays, settles and tells of it. null: nobody traces.
alter table payment_intents add column traceparent text;
