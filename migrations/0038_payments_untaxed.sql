-- concurrently
-- Payments whose taxes are to be filled in. A new payment has them, and writes nothing here.
create index concurrently if not exists payments_untaxed
  on payments (id) where lines is not null and taxes is null;
