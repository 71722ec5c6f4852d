-- A limit may be set in the shop's currency: {"currency", "amount", "worth"}, with the amount in minor
-- units. The column in atoms then holds its worth when it was set. If that column was changed by a
-- release that does not know this one, `worth` differs from it, and the atoms hold.

alter table accounts
  add column refund_daily_limit_presentment jsonb,
  -- Atoms of one sale that a till may refund while no person is signed in.
  add column till_refund_limit bigint not null default 500000000
    check (till_refund_limit between 0 and 1000000000000),
  add column till_refund_limit_presentment jsonb;

alter table memberships add column refund_limit_presentment jsonb;

-- `null` uses the account's `till_refund_limit`.
alter table terminals
  add column refund_limit bigint check (refund_limit between 0 and 1000000000000),
  add column refund_limit_presentment jsonb;

alter table risk_settings
  add column first_payment_confirm_from_presentment jsonb,
  add column high_amount_confirm_from_presentment jsonb;
