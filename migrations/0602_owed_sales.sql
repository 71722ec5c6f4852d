-- A booked sale that a reorganization undid and the chain refuses: since when it is refused, and when
-- it is sent again ('infinity': no more). Both null: it was not refused.
alter table chain_requests
  add column owed_since timestamptz(3),
  add column next_attempt timestamptz(3);
