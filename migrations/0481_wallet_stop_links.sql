-- A link that holds payouts may be about a wallet that is announced for a merchant, instead of a
-- change of owners. Pressing it also cancels that wallet on the contract.
alter table payout_hold_links alter column change_id drop not null;
alter table payout_hold_links add column livemode boolean;
alter table payout_hold_links add column merchant_number bigint;
alter table payout_hold_links add column wallet text;
alter table payout_hold_links add constraint payout_hold_links_about check (
  (change_id is null) = (wallet is not null)
  and (wallet is null) = (livemode is null)
  and (wallet is null) = (merchant_number is null));

-- Whose money an event moved that the watchtower found, and when its owners were told. An account
-- is told once a day: a thief may settle every second.
alter table watch_findings add column account_id text collate "C";
alter table watch_findings add column owners_told_at timestamptz(3);
create index watch_findings_told on watch_findings (account_id, owners_told_at)
  where owners_told_at is not null;
