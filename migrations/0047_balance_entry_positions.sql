-- concurrently
-- The refunds and corrections of a shift's report, in the account's commit order.
create index concurrently if not exists balance_entries_position
  on balance_entries ((account_id || ''), livemode, position);
