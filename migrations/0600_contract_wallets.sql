-- The contract decides which wallet a merchant has and which one is announced; these rows follow it.
-- `merchant_number`: the account may have been registered on several contracts.
alter table wallet_changes add column merchant_number bigint;
update wallet_changes w set merchant_number = m.merchant_number
  from account_modes m where m.account_id = w.account_id and m.livemode = w.livemode;

-- Somebody else may have announced a wallet while the service is still asking for another one.
drop index wallet_changes_open;
create unique index wallet_changes_open
  on wallet_changes (account_id, livemode, merchant_number, status)
  where status in ('pending', 'announced');

-- The newest block whose wallet and announcement the rows of a merchant are known to agree with: a
-- node that has not reached it says nothing new.
create table merchant_wallet_blocks (
  livemode boolean not null,
  merchant_number bigint not null,
  block_number bigint not null,
  primary key (livemode, merchant_number)
);
