-- Who said no to which merchant, and when: a merchant that is refused again and again may not go on
-- asking until somebody presses the wrong button. Kept for an hour of the account's clock.
create table payer_refusals (
  account_id text collate "C" not null,
  livemode boolean not null,
  payer_id text collate "C" not null,
  refused_at timestamptz(3) not null
);

create index payer_refusals_of_payer
  on payer_refusals (account_id, livemode, payer_id, refused_at);
create index payer_refusals_of_account on payer_refusals (account_id, livemode, refused_at);
