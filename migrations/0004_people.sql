-- People: users, their roles, how they sign in, the mail that they get, and what operators propose
-- to each other.
--
-- A user belongs to one realm. Merchants' users and the network's operators share the sign-in code
-- and nothing else: one e-mail address may exist in both realms, with two passwords.

create table users (
  id text collate "C" primary key,
  realm text not null check (realm in ('merchant', 'operator')),
  -- Lower case.
  email text collate "C" not null,
  name text not null,
  -- argon2id, PHC string.
  password_hash text not null,
  status text not null default 'active' check (status in ('active', 'disabled')),
  -- AES-256-GCM, bound to the user's id. Unconfirmed until the first code proves the app.
  totp_secret bytea,
  totp_confirmed_at timestamptz(3),
  -- The time step of the last accepted code, so that no code works twice.
  totp_last_step bigint,
  created timestamptz(3) not null,
  -- When the user confirmed that the recovery codes are stored; `null` after new codes were made.
  recovery_codes_saved_at timestamptz(3),
  -- When the user's data was erased. The row stays without personal data, because other rows
  -- reference its id.
  erased_at timestamptz(3),
  -- Operators only: `support` can view everything and change nothing.
  staff_role text not null default 'operator' check (staff_role in ('operator', 'support')),
  -- A second factor that was set up with the password alone may be a thief's. It protects money,
  -- access and wallets from this time on, or earlier if confirmed by e-mail. `null` if it already
  -- does.
  factor_trusted_from timestamptz(3),
  -- When the set-up of an authenticator app began; an unconfirmed one expires.
  totp_begun_at timestamptz(3),
  -- A person with the password and the mailbox has reported the second factors lost. They are
  -- removed at this time, unless one of them is used before.
  factors_end_at timestamptz(3),
  unique (realm, email),
  check (totp_confirmed_at is null or totp_secret is not null)
);

create table memberships (
  account_id text collate "C" not null references accounts (id),
  user_id text collate "C" not null references users (id),
  role text not null check (role in ('owner', 'admin', 'member', 'viewer')),
  created timestamptz(3) not null,
  version integer not null default 1,
  primary key (account_id, user_id)
);

create index memberships_user on memberships (user_id);

create table sessions (
  id text collate "C" primary key,
  user_id text collate "C" not null references users (id),
  hash bytea not null unique,
  -- The token before the last rotation, valid until the new one has been in use for a while.
  previous_hash bytea unique,
  rotated_at timestamptz(3) not null,
  rotation_seen_at timestamptz(3),
  -- `password`: the second factor is missing, and the session allows nothing else.
  level text not null check (level in ('password', 'full')),
  -- When a second factor was last verified in this session.
  second_factor_at timestamptz(3),
  address text not null,
  user_agent text not null,
  created timestamptz(3) not null,
  last_seen_at timestamptz(3) not null,
  expires_at timestamptz(3) not null
);

create index sessions_user on sessions (user_id);
create index sessions_expires on sessions (expires_at);

-- Links of sign-up and password reset, sent by e-mail. Single use, hashed.
create table email_tokens (
  hash bytea primary key,
  purpose text not null check (purpose in ('sign_up', 'password_reset')),
  realm text not null,
  email text collate "C" not null,
  created timestamptz(3) not null,
  expires_at timestamptz(3) not null,
  used_at timestamptz(3)
);

create index email_tokens_email on email_tokens (realm, email);

create table invitations (
  id text collate "C" primary key,
  account_id text collate "C" not null references accounts (id),
  email text collate "C" not null,
  role text not null check (role in ('owner', 'admin', 'member', 'viewer')),
  hash bytea not null unique,
  invited_by text collate "C" not null,
  created timestamptz(3) not null,
  expires_at timestamptz(3) not null,
  accepted_at timestamptz(3),
  revoked_at timestamptz(3)
);

create unique index invitations_open on invitations (account_id, email)
  where accepted_at is null and revoked_at is null;

create table recovery_codes (
  user_id text collate "C" not null references users (id),
  hash bytea not null,
  used_at timestamptz(3),
  -- After a loss of the database, codes made later than the loss stay valid.
  created timestamptz(3) not null default now(),
  primary key (user_id, hash)
);

create table passkeys (
  id text collate "C" primary key,
  user_id text collate "C" not null references users (id),
  credential_id text collate "C" not null unique,
  public_key bytea not null,
  counter bigint not null,
  transports text[] not null,
  name text not null,
  created timestamptz(3) not null,
  last_used_at timestamptz(3)
);

create index passkeys_user on passkeys (user_id);

-- A challenge serves one ceremony: the response deletes it, whether it verifies or not.
create table passkey_challenges (
  hash bytea primary key,
  user_id text collate "C" references users (id),
  realm text not null,
  purpose text not null check (purpose in ('register', 'sign_in', 'second_factor')),
  expires_at timestamptz(3) not null
);

-- Sign-in attempts per bucket: an IP address, an e-mail address with or without a known device, or
-- a user's second factor.
create table sign_in_attempts (
  bucket text collate "C" primary key,
  attempts integer not null,
  since timestamptz(3) not null
) with (fillfactor = 70);

create index sign_in_attempts_since on sign_in_attempts (since);

-- Devices on which a user has signed in. A row each, so that they end with a new password, a
-- changed second factor, or "sign out everywhere".
create table known_devices (
  hash bytea primary key,
  user_id text collate "C" not null references users (id),
  user_agent text not null,
  address text not null,
  created timestamptz(3) not null,
  last_used_at timestamptz(3) not null,
  expires_at timestamptz(3) not null
);

create index known_devices_user on known_devices (user_id, last_used_at);
create index known_devices_expires on known_devices (expires_at);

-- Links in e-mails about an action, such as "this wasn't me". Opening a link changes nothing; the
-- page has a button.
create table person_links (
  hash bytea primary key,
  kind text not null check (kind in ('not_me', 'trust_factor', 'recover_factor')),
  -- The user whose sessions the link ends, or whose second factor it is about.
  user_id text collate "C" not null references users (id),
  -- The account whose payouts the link holds; `null` for all accounts that the user owns.
  account_id text collate "C" references accounts (id),
  email text collate "C" not null,
  what text not null,
  created timestamptz(3) not null,
  expires_at timestamptz(3) not null,
  used_at timestamptz(3)
);

create index person_links_expires on person_links (expires_at);

-- Mail is written in the transaction that causes it, and sent by a worker. The text may hold a
-- secret link, so it is encrypted, and deleted once sent.
create table mail_outbox (
  id bigint generated always as identity primary key,
  context text not null,
  sealed bytea,
  created timestamptz(3) not null,
  attempts integer not null default 0,
  due_at timestamptz(3) not null,
  sent_at timestamptz(3),
  failed_at timestamptz(3)
);

create index mail_outbox_due on mail_outbox (due_at) where sent_at is null and failed_at is null;

-- Actions that need two operators: one proposes, another approves.
create table operator_proposals (
  id text collate "C" primary key,
  kind text not null check (kind in
    ('block_payer', 'unblock_payer', 'pause', 'unpause', 'change_rates',
    'accept_foreign', 'refuse_foreign', 'approve_account', 'disable_account', 'enable_account',
    'rename_account', 'make_operator')),
  livemode boolean not null,
  -- The id of the payer, account or user, or the network.
  subject text collate "C" not null,
  -- Of `change_rates`: acquirer, protocol and cashback rate in basis points.
  payload jsonb not null,
  reason text not null,
  status text not null default 'open' check (status in ('open', 'approved', 'rejected')),
  proposed_by text collate "C" not null references users (id),
  created timestamptz(3) not null,
  -- A proposal cannot be approved days later, when its reason may no longer hold.
  expires_at timestamptz(3) not null,
  decided_by text collate "C" references users (id),
  decided_at timestamptz(3),
  decision_reason text
);

create index operator_proposals_open on operator_proposals (kind, livemode, subject)
  where status = 'open';
