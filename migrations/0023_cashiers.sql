-- Cashiers: a role for people who work at tills, and the PINs with which members start a shift at a
-- till. Any member may have one.

alter table memberships
  drop constraint memberships_role_check,
  add constraint memberships_role_check
    check (role in ('owner', 'admin', 'member', 'viewer', 'cashier')),
  -- argon2id, PHC string, of a MAC of the PIN under the id key: four digits alone would be guessed
  -- from the hash within minutes.
  add column pin_hash text,
  -- Identifies this PIN, so that a shift that was started with an earlier one allows nothing more.
  add column pin_id uuid,
  -- The latest wrong PINs, and the end of the block that five of them cause.
  add column pin_wrong_at timestamptz(3)[] not null default '{}',
  add column pin_blocked_until timestamptz(3),
  -- How much of one sale this person may refund at a till without a manager's code.
  add column refund_limit bigint not null default 0
    check (refund_limit between 0 and 1000000000000),
  -- Whether this person may give discounts at a till without a manager's code.
  add column may_discount boolean not null default false,
  add constraint memberships_pin check ((pin_hash is null) = (pin_id is null));

alter table invitations
  drop constraint invitations_role_check,
  add constraint invitations_role_check
    check (role in ('owner', 'admin', 'member', 'viewer', 'cashier'));
