-- Payers: a wallet on one network, the credentials with which it pays, its sign-ins, approvals and
-- transfers, and the notifications that it gets.
--
-- The spending policy and the allowance are on the chain. What is here can only narrow them.

create table payers (
  id text collate "C" primary key,
  livemode boolean not null,
  -- Checksummed EVM address.
  address text collate "C" not null,
  created timestamptz(3) not null,
  -- Set by two operators: every tap is declined as risk_blocked.
  blocked_at timestamptz(3),
  limit_per_payment bigint check (limit_per_payment > 0),
  limit_per_day bigint check (limit_per_day > 0),
  -- The payer confirms each first payment at a merchant, whatever its amount.
  confirm_first_payment boolean not null default false,
  unique (livemode, address)
);

create table passes (
  id text collate "C" primary key,
  payer_id text collate "C" not null references payers (id),
  hash bytea not null unique,
  label text not null default '',
  created timestamptz(3) not null,
  revoked_at timestamptz(3),
  -- The newest tap by the pass's static code that was declined, and why. Whoever reads the code can
  -- copy it, so the payer is notified of each such tap.
  declined_at timestamptz(3),
  decline_code text,
  constraint passes_declined_both check ((declined_at is null) = (decline_code is null))
);

create index passes_payer on passes (payer_id, created desc);
-- The payer's list: active passes first (src/payers/list-active-first.ts).
create index passes_payer_listed on passes
  (payer_id, (revoked_at is null) desc, created desc, id desc);

-- One-minute codes of passes.
create table pass_codes (
  hash bytea primary key,
  pass_id text collate "C" not null references passes (id) on delete cascade,
  created timestamptz(3) not null,
  expires_at timestamptz(3) not null,
  used_at timestamptz(3)
);

create index pass_codes_pass on pass_codes (pass_id);
create index pass_codes_expires on pass_codes (expires_at);

-- Keys of codes that change every half minute (RFC 6238), shown by the wallet app or by the wallet
-- of a phone.
create table rotating_keys (
  pass_id text collate "C" primary key references passes (id) on delete cascade,
  -- Encrypted.
  key bytea not null,
  created timestamptz(3) not null,
  -- The time step of the last accepted code: each step pays once. -1 if none was accepted yet.
  last_step bigint not null default -1,
  -- Codes of this step and of earlier ones may have been used in time that the database lost.
  lost_step bigint not null default -1,
  -- The times of wrong codes within the last ten minutes.
  wrong_at timestamptz(3)[] not null default '{}',
  blocked_until timestamptz(3)
);

-- The value that a phone's wallet sends to a reader for a pass: Google Wallet by Smart Tap, Apple
-- Wallet by VAS. It is random, encrypted so that the pass can be issued again, and hashed for
-- look-ups.
create table phone_passes (
  hash bytea primary key,
  pass_id text collate "C" not null references passes (id) on delete cascade,
  kind text not null check (kind in ('smart_tap', 'apple_vas')),
  sealed bytea not null,
  created timestamptz(3) not null,
  -- The database has lost which taps of it were used (src/payers/issue-phone-pass.ts).
  doubted_at timestamptz(3),
  -- The second of the last tap that test mode generated: each generated tap has its own second.
  played_at timestamptz(0),
  unique (pass_id, kind)
);

-- Used taps, by the hash of everything that the reader read. The nonces of Smart Tap are kept as
-- long as the value is valid; a tap that carries its time is deleted once it would be too old.
create table phone_taps (
  hash bytea primary key,
  phone_pass bytea not null references phone_passes (hash) on delete cascade,
  used_at timestamptz(3) not null,
  swept_from timestamptz(3)
);

create index phone_taps_pass on phone_taps (phone_pass);
create index phone_taps_swept on phone_taps (swept_from) where swept_from is not null;

-- Copies of passes in Google Wallet and Apple Wallet, which must follow every change of the pass. A
-- change increments `version` in its own transaction; a worker updates the copy and sets
-- `copied_version`.
create table pass_copies (
  -- No foreign key: the copy of an erased pass must still be made void in the phone.
  pass_id text collate "C" not null,
  wallet text not null check (wallet in ('google', 'apple')),
  created timestamptz(3) not null,
  changed_at timestamptz(3) not null,
  version bigint not null default 0,
  copied_version bigint not null default 0 check (copied_version <= version),
  -- Attempts since the last successful update.
  tries integer not null default 0,
  next_try_at timestamptz(3) not null,
  -- When the pass was erased; this row is deleted a month later.
  erased_at timestamptz(3),
  primary key (pass_id, wallet)
);

create index pass_copies_due on pass_copies (next_try_at) where copied_version < version;
create index pass_copies_erased on pass_copies (erased_at) where erased_at is not null;

-- iPhones and watches that hold a pass, by Apple's names, and the token by which each is notified
-- of a change.
create table apple_devices (
  device text collate "C" not null,
  pass_id text collate "C" not null,
  push_token text collate "C" not null,
  created timestamptz(3) not null,
  primary key (device, pass_id)
);

create index apple_devices_pass on apple_devices (pass_id);

-- Cards that answer each tap with a new message (NTAG 424 DNA). A message is worth one attempt.
create table cards (
  id text collate "C" primary key,
  payer_id text collate "C" not null references payers (id),
  label text not null default '',
  -- Both AES keys of the card, encrypted.
  keys bytea not null,
  per_payment_limit bigint not null check (per_payment_limit between 1 and 1000000000000),
  -- The highest accepted count. A card's own count is never below 0.
  counter integer not null default -1 check (counter between -1 and 16777215),
  -- The chip's UID, 14 hex digits, bound by the first accepted tap.
  uid text collate "C" check (uid ~ '^[0-9A-F]{14}$'),
  -- How many taps of this card test mode has generated.
  emulated integer not null default 0,
  created timestamptz(3) not null,
  last_used_at timestamptz(3),
  revoked_at timestamptz(3),
  -- After a loss of the database the stored counter may be behind the card's own, so that a used
  -- message would pay again. From this time on the payer confirms each tap, until one is approved.
  asks_since timestamptz(3)
);

create index cards_payer_listed on cards
  (payer_id, (revoked_at is null) desc, created desc, id desc);

-- Chips that sign payments themselves, as registered by their owners. Limit and block apply to the
-- chip's address, however its signature arrives.
create table chips (
  id text collate "C" primary key,
  payer_id text collate "C" not null references payers (id) on delete cascade,
  livemode boolean not null,
  -- Checksummed EVM address.
  address text collate "C" not null,
  label text not null default '',
  -- Atoms of sale and tip; `null` if only the chip's balance limits a payment.
  per_payment_limit bigint check (per_payment_limit between 1 and 1000000000000),
  blocked_at timestamptz(3),
  created timestamptz(3) not null,
  unique (livemode, address)
);

create index chips_payer on chips (payer_id, created, id);

-- Tokens with which a payer's AI agents pay.
create table agent_tokens (
  id text collate "C" primary key,
  hash bytea not null unique,
  payer_id text collate "C" not null references payers (id),
  -- The token is valid for this merchant and this amount.
  account_id text collate "C" not null references accounts (id),
  livemode boolean not null,
  amount bigint not null check (amount between 1 and 1000000000000),
  created timestamptz(3) not null,
  expires_at timestamptz(3) not null,
  revoked_at timestamptz(3),
  -- The last intent that accepted the token. Whether the token is held or spent follows from that
  -- intent's status, so that no step that ends an attempt can forget to release it.
  payment_intent_id text collate "C"
);

create index agent_tokens_payer on agent_tokens (payer_id, created desc);
create index agent_tokens_payer_listed on agent_tokens
  (payer_id, (revoked_at is null) desc, created desc, id desc);

-- Single use: the sign-in that presents the nonce deletes it, whether it succeeds or not.
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
  expires_at timestamptz(3) not null,
  -- When the wallet last signed for this session; `null` if only at the sign-in.
  signed_at timestamptz
);

create index payer_sessions_payer on payer_sessions (payer_id);
create index payer_sessions_expires on payer_sessions (expires_at);

-- Web Push subscription of a signed-in browser, which is notified while the wallet app is closed.
-- It ends with the session.
create table payer_pushes (
  session_hash bytea primary key references payer_sessions (hash) on delete cascade,
  payer_id text collate "C" not null references payers (id),
  -- A secret shared by the browser, its push service and this network.
  endpoint text not null,
  created timestamptz(3) not null,
  -- The deadline of the newest confirmation that the browser was notified of. The process that
  -- advances it sends the notification.
  rung_until timestamptz(3),
  -- A tap that this browser was not yet notified of.
  tapped_at timestamptz(3),
  -- When the browser was last notified of a tap.
  notified_at timestamptz(3),
  -- When the push service refused a notification of this network (403: it does not accept
  -- VAPID_SUBJECT or the key), so that the wallet app does not claim to notify. The next accepted
  -- notification clears it.
  refused_at timestamptz(3)
);

create index payer_pushes_payer on payer_pushes (payer_id);
create index payer_pushes_tapped on payer_pushes (tapped_at) where tapped_at is not null;

-- Transactions that payers request: approval set-ups (permit and policy, relayed so that a payer
-- needs no gas), test funds, and transfers. The id is the settlement job's `subject_id`.
create table payer_requests (
  id text collate "C" primary key,
  payer_id text collate "C" not null references payers (id),
  kind text not null check (kind in ('enrolment', 'faucet', 'transfer')),
  status text not null default 'pending' check (status in ('pending', 'succeeded', 'failed')),
  failure_code text,
  tx_hash text collate "C",
  created timestamptz(3) not null,
  updated timestamptz(3) not null,
  check ((status = 'failed') = (failure_code is not null))
);

create index payer_requests_payer on payer_requests (payer_id, created desc);

-- Signed USDC transfers for which the operator pays the gas. A row outlives its request, so that
-- erasing a payer's data does not grant another three transfers a day.
create table payer_transfers (
  payer_id text collate "C" not null references payers (id),
  -- Nonce of the EIP-3009 authorization, in hex: the token accepts each once.
  nonce text collate "C" not null check (nonce ~ '^0x[0-9a-f]{64}$'),
  request_id text collate "C" not null unique,
  created timestamptz(3) not null,
  primary key (payer_id, nonce)
);

create index payer_transfers_of_a_day on payer_transfers (payer_id, created);

-- What the wallet app proposes when a wallet signs its spending policy, per network. The payer may
-- sign other values; the contract enforces the signed ones.
create table spending_policy_defaults (
  livemode boolean primary key,
  -- Atoms.
  per_payment bigint not null check (per_payment between 1 and 1000000000000),
  per_period bigint not null check (per_period >= per_payment),
  period_seconds integer not null check (period_seconds >= 3600),
  valid_days integer not null check (valid_days between 1 and 3650),
  -- Acquirer and protocol fee together, in basis points.
  max_fee_rate integer not null check (max_fee_rate between 0 and 300),
  version integer not null default 1,
  updated timestamptz(3) not null
);
