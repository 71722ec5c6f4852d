-- People: users, what they may do, how they sign in, and the log of what they changed.
--
-- A user belongs to one realm. Merchants' people and the network's own staff share the code that
-- signs them in and nothing else: an address may exist in both, with two passwords.

create table users (
  id text collate "C" primary key,
  realm text not null check (realm in ('merchant', 'operator')),
  -- Lower case.
  email text collate "C" not null,
  name text not null,
  -- argon2id, PHC string.
  password_hash text not null,
  status text not null default 'active' check (status in ('active', 'disabled')),
  -- AES-256-GCM, bound to the user's id. Pending until the first code proves the app.
  totp_secret bytea,
  totp_confirmed_at timestamptz(3),
  -- The time step of the last accepted code: no code works twice.
  totp_last_step bigint,
  created timestamptz(3) not null,
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
  -- The token before the last rotation, until the new one has been seen for a while.
  previous_hash bytea unique,
  rotated_at timestamptz(3) not null,
  rotation_seen_at timestamptz(3),
  -- `password`: the second factor is still missing, nothing else is allowed.
  level text not null check (level in ('password', 'full')),
  -- When a second factor was last proven in this session.
  second_factor_at timestamptz(3),
  address text not null,
  user_agent text not null,
  created timestamptz(3) not null,
  last_seen_at timestamptz(3) not null,
  expires_at timestamptz(3) not null
);

create index sessions_user on sessions (user_id);
create index sessions_expires on sessions (expires_at);

-- Links that go out by mail: sign-up, password reset. Single use, hashed.
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

-- One ceremony each: taken (deleted) by the answer, whatever the answer is worth.
create table passkey_challenges (
  hash bytea primary key,
  user_id text collate "C" references users (id),
  realm text not null,
  purpose text not null check (purpose in ('register', 'sign_in', 'second_factor')),
  expires_at timestamptz(3) not null
);

-- Attempts by bucket (address; e-mail with or without a known device; user's second factor).
create table sign_in_attempts (
  bucket text collate "C" primary key,
  attempts integer not null,
  since timestamptz(3) not null
) with (fillfactor = 70);

create index sign_in_attempts_since on sign_in_attempts (since);

-- Mail leaves in the transaction that causes it; a worker sends. The text may hold a link that is
-- a secret, so it is encrypted, and dropped once sent.
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

-- Who changed what. One hash chain per account, and one (`network`) for the network itself.
-- Rows are only ever added: the trigger holds for the table's owner as well, and every row's hash
-- covers the row before, so that what was done by going around the trigger shows.
create table audit_log (
  chain text collate "C" not null,
  sequence bigint not null,
  created timestamptz(3) not null,
  actor jsonb not null,
  action text not null,
  object_id text collate "C" not null,
  livemode boolean,
  before jsonb,
  after jsonb,
  request_id text,
  address text,
  previous_hash bytea not null,
  hash bytea not null,
  primary key (chain, sequence)
);

create index audit_log_created on audit_log (chain, created);
create index audit_log_object on audit_log (chain, object_id, sequence);

create function audit_log_is_append_only() returns trigger language plpgsql as $$
begin
  raise exception 'the audit log is append-only';
end $$;

create trigger audit_log_no_change before update or delete on audit_log
  for each row execute function audit_log_is_append_only();
create trigger audit_log_no_truncate before truncate on audit_log
  for each statement execute function audit_log_is_append_only();
