-- USDC that wallets send out while the operator pays the gas: what was signed, once each.
alter table payer_requests drop constraint payer_requests_kind_check;
alter table payer_requests add constraint payer_requests_kind_check
  check (kind in ('enrolment', 'faucet', 'transfer'));

-- Outlives the request itself: whoever erases their data has not got three more for it.
create table payer_transfers (
  payer_id text collate "C" not null references payers (id),
  -- Of the EIP-3009 authorization, hex: the token takes each once.
  nonce text collate "C" not null check (nonce ~ '^0x[0-9a-f]{64}$'),
  request_id text collate "C" not null unique,
  created timestamptz(3) not null,
  primary key (payer_id, nonce)
);

create index payer_transfers_of_a_day on payer_transfers (payer_id, created);
