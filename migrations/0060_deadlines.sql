-- A payment settles by its deadline or never, and bytes that have failed somebody never go out again.

alter table chain_requests
  -- Real time, written by the API. Null: no deadline (refunds and the like are owed).
  add column deadline timestamptz(3),
  -- Seconds from the tap, or from the payer's yes, to the deadline.
  add column settle_within integer check (settle_within > 0),
  -- By the chain's clock: no bytes that carry this request can settle it in a later block.
  add column signed_until timestamptz(3),
  add constraint chain_requests_deadline check ((deadline is null) = (settle_within is null));

alter table chain_transactions
  -- By the chain's clock: the contract refuses the call in later blocks. Null: it always holds.
  add column valid_until timestamptz(3),
  -- A request of it went back to the queue: its bytes must never be sent again, since new ones do
  -- the same, or since somebody was told meanwhile that nothing was charged.
  add column retired boolean not null default false;

-- Should the chain settle after all what was declined, it is found by its number.
create index chain_requests_declined on chain_requests (livemode, number)
  where kind = 'payment' and status = 'failed';
