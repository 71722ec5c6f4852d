-- Whoever reads a static pass can copy it, so its payer hears of each tap: paid, and refused.

alter table passes
  -- The newest tap by the code that never changes that was refused, and why.
  add column declined_at timestamptz(3),
  add column decline_code text,
  add constraint passes_declined_both check ((declined_at is null) = (decline_code is null));

alter table payer_pushes
  -- A tap that this browser was not rung for yet.
  add column tapped_at timestamptz(3),
  -- When it was last rung for one.
  add column told_at timestamptz(3);

create index payer_pushes_tapped on payer_pushes (tapped_at) where tapped_at is not null;
