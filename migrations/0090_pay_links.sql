-- Paying with any wallet, by the link of an intent. The link's token is a function of the intent's
-- number, so an intent has a row here only once somebody has opened its link.
create table pay_links (
  payment_intent_id text collate "C" primary key,
  -- What wallets were asked to sign, the newest last: salt, end, and the rates of the sum.
  terms jsonb not null default '[]',
  -- An authorization was answered: the next wallet gets another salt, so that what it signs is new.
  renew boolean not null default false,
  -- When signatures did not verify; the last few.
  failures timestamptz(3)[] not null default '{}'
);

alter table payments drop constraint payments_method_type_check;
alter table payments add constraint payments_method_type_check
  check (method_type in ('wallet_pass', 'agent_token', 'wallet', 'unknown')) not valid;
alter table payments drop constraint payments_credential_type_check;
alter table payments add constraint payments_credential_type_check
  check (credential_type in ('nfc_id', 'nfc_sun', 'qr', 'agent_token', 'authorization', 'unknown'))
  not valid;
