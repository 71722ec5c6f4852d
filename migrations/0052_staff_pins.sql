-- The people of an account who have a PIN, which each cart at a till asks for.
create index staff_pins on staff (account_id, id) where pin_hash is not null;
