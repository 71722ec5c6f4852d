-- What one operator has asked for and another has to agree to: blocks of payers, and what the
-- contract's guardian or admin is asked to do.
create table operator_proposals (
  id text collate "C" primary key,
  kind text not null
    check (kind in ('block_payer', 'unblock_payer', 'pause', 'unpause', 'change_rates')),
  livemode boolean not null,
  -- The payer, or the network.
  subject text collate "C" not null,
  -- Rates: acquirer, protocol and cashback in basis points.
  payload jsonb not null,
  reason text not null,
  status text not null default 'open' check (status in ('open', 'approved', 'rejected')),
  proposed_by text collate "C" not null references users (id),
  created timestamptz(3) not null,
  -- Nobody agrees to what was right some days ago.
  expires_at timestamptz(3) not null,
  decided_by text collate "C" references users (id),
  decided_at timestamptz(3),
  decision_reason text
);

create index operator_proposals_open on operator_proposals (kind, livemode, subject)
  where status = 'open';
