-- Where the till stood when an offline sale was forwarded, for lists and files of one location.
-- The table is younger than any release, so its index is made at once.

alter table offline_payments add column location_id text collate "C";

create index offline_payments_location
  on offline_payments (location_id, livemode, created, position) where location_id is not null;
