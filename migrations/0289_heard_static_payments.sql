-- A static pass can be copied, so its owner hears of each payment with it, with the wallet closed, too.

-- What was settled up to then is no news: whoever moves it rings.
alter table payer_pushes add column heard_until timestamptz(3) not null default now();
