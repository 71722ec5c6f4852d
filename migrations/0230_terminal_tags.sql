-- Each terminal has an address of its own, which its shop writes on an NFC sticker or prints as a QR
-- code. Its token is this number under the id key (src/terminals/tag.ts), so who reads the database
-- alone cannot make the address. Another number is another address.
alter table terminals add column tag uuid not null default gen_random_uuid();
create unique index terminals_tag on terminals (tag);
