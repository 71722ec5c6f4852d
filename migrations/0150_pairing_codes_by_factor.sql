-- Whether a pairing code was made with a second factor proven a moment before. Only such a code
-- opens a till whose PIN is forgotten, or moves a till with real money to another terminal.
alter table pairing_codes add column by_fresh_factor boolean not null default false;
