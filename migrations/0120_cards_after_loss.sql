-- After a loss of the database a card's counter may be behind the card's own: what was spent in the
-- lost time would pay again. Since then each tap of the card asks its payer, until one says yes.
alter table cards add column asks_since timestamptz(3);
