-- A rate remembers when its market last moved, so that a sale while the market is closed can include the
-- operator's margin, and since when the feeds have given no rate, so that operators hear of it in time.

alter table exchange_rates
  add column market_at timestamptz(3),
  add column closed_margin integer not null default 0 check (closed_margin between 0 and 1000),
  add column refused_since timestamptz(3);
