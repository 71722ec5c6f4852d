-- What a till offers as tips (`null`: 10, 15 and 20 percent), and the name of the tax rate of a sale that
-- is typed on its keypad (`null`: none).

alter table accounts
  add column tip_percentages jsonb,
  add column default_tax_rate text;
