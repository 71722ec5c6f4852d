-- What a wallet signs for a pay link depends on how often that wallet was answered, and on no other:
-- declines of empty wallets leave the signatures of others as good as they were. A row is made only
-- by a wallet's own signature. `pay_links.renew` is read by earlier releases alone.
create table pay_link_answers (
  payment_intent_id text collate "C" not null,
  -- With its checksum, as it signs.
  address text collate "C" not null,
  answers integer not null check (answers > 0),
  primary key (payment_intent_id, address)
);
