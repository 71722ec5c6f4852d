-- Movements of wallets' USDC, as the chain reports them, and how far they have been read. Both can
-- be deleted at any time: the wallet's next request reads them again.

create table wallet_movements (
  payer_id text collate "C" not null references payers (id),
  -- The block's time; of folded transfers, the beginning of their UTC day.
  created timestamptz(3) not null,
  -- Block number times 2^20 plus log index. Of folded transfers 1 (received) or 2 (sent).
  position bigint not null,
  id text collate "C" not null,
  type text not null check (type in ('payment', 'refund', 'sent', 'received', 'faucet')),
  -- `null` for folded transfers.
  tx_hash text collate "C",
  -- The other side of the transfer; `null` for folded transfers.
  address text collate "C",
  -- The number of the payment that was made or refunded.
  number bigint,
  -- Atoms in blocks that are final.
  amount bigint not null check (amount >= 0),
  -- Atoms in blocks that may leave the chain. They are read again at each request.
  unsettled bigint not null check (unsettled >= 0),
  -- Atoms of the amount.
  fee bigint not null check (fee >= 0),
  -- True before the confirmations.
  pending boolean not null,
  primary key (payer_id, created, position),
  check (amount + unsettled > 0)
);

create index wallet_movements_unsettled on wallet_movements (payer_id) where unsettled > 0;

create table wallet_reads (
  payer_id text collate "C" primary key references payers (id),
  -- The first block of the history.
  start_block bigint not null,
  -- Final blocks below it have been read, except for those in `unread`.
  next_block bigint not null,
  -- Of the block before next_block, to notice that a final block left the chain; `null` if there is
  -- no such block.
  last_hash text collate "C",
  -- Ranges of final blocks, oldest first: [first, last].
  unread jsonb not null,
  -- Everything from the start of this block to `as_of` has been read.
  since_block bigint not null,
  since timestamptz(3) not null,
  as_of timestamptz(3) not null,
  -- Requests to nodes on this UTC day (YYYY-MM-DD).
  day text not null,
  requests integer not null,
  version integer not null
);
