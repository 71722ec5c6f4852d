-- How payers sign in, and the tokens with which their AI agents pay.

-- Single use: taken (deleted) by the sign-in that shows it, whatever the sign-in is worth.
create table payer_nonces (
  hash bytea primary key,
  created timestamptz(3) not null,
  expires_at timestamptz(3) not null
);

create index payer_nonces_expires on payer_nonces (expires_at);

create table payer_sessions (
  hash bytea primary key,
  payer_id text collate "C" not null references payers (id),
  created timestamptz(3) not null,
  expires_at timestamptz(3) not null
);

create index payer_sessions_payer on payer_sessions (payer_id);
create index payer_sessions_expires on payer_sessions (expires_at);

create table agent_tokens (
  id text collate "C" primary key,
  hash bytea not null unique,
  payer_id text collate "C" not null references payers (id),
  -- The merchant and the amount that it is good for.
  account_id text collate "C" not null references accounts (id),
  livemode boolean not null,
  amount bigint not null check (amount between 1 and 1000000000000),
  created timestamptz(3) not null,
  expires_at timestamptz(3) not null,
  revoked_at timestamptz(3),
  -- The intent that it was last accepted for. Whether it is held or spent is read from that
  -- intent, so no step that ends an attempt can forget to release a token.
  payment_intent_id text collate "C"
);

create index agent_tokens_payer on agent_tokens (payer_id, created desc);

-- What payers have asked of the chain: their spending approvals (permit and policy, relayed so
-- that no payer needs gas) and, on the test network, funds. The id is the chain request's subject.
create table payer_requests (
  id text collate "C" primary key,
  payer_id text collate "C" not null references payers (id),
  kind text not null check (kind in ('enrolment', 'faucet')),
  status text not null default 'pending' check (status in ('pending', 'succeeded', 'failed')),
  failure_code text,
  tx_hash text collate "C",
  created timestamptz(3) not null,
  updated timestamptz(3) not null,
  check ((status = 'failed') = (failure_code is not null))
);

create index payer_requests_payer on payer_requests (payer_id, created desc);
