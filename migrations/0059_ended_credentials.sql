-- What a recovery has ended, by kind, so that an operator can tell whom to write to.
alter table network_recoveries add column ended jsonb not null default '{}';

-- Codes that were made after a loss stay good.
alter table recovery_codes add column created timestamptz(3) not null default now();
