-- A refund stores which lines it returns, and its taxes.

alter table refunds
  -- The returned lines: [{line, quantity, amount}], with the index of the line and the returned amount.
  -- `null` for a refund of a sum.
  add column line_items jsonb,
  -- The part of each rate that is returned: [{rate, net, tax, gross}]. `null` for a sale without lines, and
  -- for a refund of an earlier release.
  add column taxes jsonb,
  -- See 0037_payment_taxes.sql; `null` until the refund succeeds.
  add column shop_rate text collate "C";
