-- Devices that somebody has signed in on. A row each, so that they end with the password, with a
-- change of the second factor and with "sign out everywhere".

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

-- When the person said that the recovery codes are kept somewhere; null after new ones were made.
alter table users add column recovery_codes_saved_at timestamptz(3);
