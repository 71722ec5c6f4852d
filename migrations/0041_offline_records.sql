-- What a till records of an offline sale besides its sum.

alter table offline_payments
  -- The person who was signed in at the till; `null` if nobody was, or the account does not know them.
  add column cashier_id text collate "C",
  -- The discount on the whole sale, in the units of its lines.
  add column discount bigint check (discount >= 0);
