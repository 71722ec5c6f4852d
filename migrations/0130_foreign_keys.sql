-- What was done with a key of ours, but not by us.

-- A lane whose key somebody else has used: it takes no new work.
alter table relayer_lanes add column stopped_at timestamptz(3);

-- Nonces of lanes that the chain has and this database does not, by address, where a process has
-- just started and cannot tell whether the database was restored: operators have to say.
alter table network_recoveries add column doubt jsonb;

-- Settlements, refunds and withdrawals on the contract that no row explains, while no loss is
-- shown. They are booked only when two operators accept them.
create table foreign_settlements (
  id bigint generated always as identity primary key,
  livemode boolean not null,
  kind text not null check (kind in ('payment', 'refund', 'withdrawal')),
  -- Of the settlement, of the payment that is refunded, or of the withdrawal.
  number bigint not null,
  tx_hash text collate "C" not null,
  log_index integer not null,
  block_number bigint not null,
  account_id text collate "C" not null references accounts (id),
  -- The payer, or the wallet that was paid.
  address text collate "C" not null,
  amount bigint not null,
  found timestamptz(3) not null,
  decision text check (decision in ('accepted', 'refused')),
  decided_at timestamptz(3),
  unique (livemode, tx_hash, log_index)
);

create index foreign_settlements_account on foreign_settlements (account_id, livemode);

-- Such decisions need two operators as well.
alter table operator_proposals drop constraint operator_proposals_kind_check;
alter table operator_proposals add constraint operator_proposals_kind_check
  check (kind in ('block_payer', 'unblock_payer', 'pause', 'unpause', 'change_rates',
    'accept_foreign', 'refuse_foreign'));
