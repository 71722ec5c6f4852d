-- A second factor that was set up by the password alone may be a thief's. It counts for money,
-- access and wallets from this moment on, or from a press in a mail; null: it counts.
alter table users add column factor_trusted_from timestamptz(3);
-- The set-up of an authenticator app ends when it is not confirmed soon.
alter table users add column totp_begun_at timestamptz(3);
-- Somebody with the password and the mailbox has said that the factors are lost: they end then,
-- unless one of them is used before.
alter table users add column factors_end_at timestamptz(3);

-- Links in mails about what somebody did. Opening one changes nothing; its page has a button.
create table person_links (
  hash bytea primary key,
  kind text not null check (kind in ('not_me', 'trust_factor', 'recover_factor')),
  -- Whose sessions end, or whose factor it is about.
  user_id text collate "C" not null references users (id),
  -- Whose payouts are held; null: of all accounts that the user owns.
  account_id text collate "C" references accounts (id),
  email text collate "C" not null,
  what text not null,
  created timestamptz(3) not null,
  expires_at timestamptz(3) not null,
  used_at timestamptz(3)
);

create index person_links_expires on person_links (expires_at);

-- A hold may come from such a link, and then belongs to no change of owners.
alter table payout_holds alter column change_id drop not null;
