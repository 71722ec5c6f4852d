-- A refund that the token refuses for now (paused, or an address on its blocklist) waits.
alter table chain_requests
  add column blocked_since timestamptz(3),
  -- The refusal's own words, for people.
  add column blocked_by text;
