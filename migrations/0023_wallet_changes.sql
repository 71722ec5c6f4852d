-- A new settlement wallet waits as long as the contract says: read when the change is asked for.
alter table wallet_changes add column delay_seconds integer not null default 0;

create index wallet_changes_due on wallet_changes (applicable_at) where status = 'announced';
