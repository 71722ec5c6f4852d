-- A till sells offline in the shop's currency, at the rate of its terms.

alter table offline_payments
  -- {currency, amount, rate, quotedAt, source, margin}. `null` for a sale in USDC.
  add column presentment jsonb,
  -- Why the price that the record gave in the shop's currency does not count.
  add column presentment_problem text collate "C";
