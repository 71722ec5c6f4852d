-- Catalog items may cost less than 0 (deposits that are given back), and have a category and options.

alter table catalogue_items
  drop constraint catalogue_items_unit_amount_check,
  add column category text check (length(category) between 1 and 60),
  -- [{name, unit_amount}]: choices that change the price.
  add column options jsonb not null default '[]';

-- The items that a shop has deleted, because sales may still name them: a till holds carts, and sells
-- offline for days.
create table deleted_catalogue_items (
  id text collate "C" primary key,
  account_id text collate "C" not null,
  livemode boolean not null,
  category text
);

-- The discounts that an account's tills offer: [{name, rate or amount}].
alter table accounts add column discounts jsonb not null default '[]';
