-- The figures of a sale that books and reports read are stored when it is booked, so that a later change
-- of a rate, or of the code, changes no figure of the past.

alter table payments
  -- The tax table of the lines: [{rate, net, tax, gross}]. `null` for a sale without lines, and for a
  -- payment of an earlier release until a worker has filled it in (src/payments/fill-taxes.ts).
  add column taxes jsonb,
  -- USDC for one unit of the shop's currency when the payment was booked. `null` if the shop had none, for
  -- a rebuilt payment, and for one of an earlier release.
  add column shop_rate text collate "C";
