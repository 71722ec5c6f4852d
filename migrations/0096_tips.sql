-- Tips. What an intent may ask its customer for; the tip of a try stands in its attempt, and that
-- of a payment in its row, whose amount is sale plus tip.
alter table payment_intents add column tipping jsonb;
alter table payments add column tip bigint not null default 0 check (tip >= 0 and tip < amount);
alter table statistics_days add column tips bigint not null default 0;
