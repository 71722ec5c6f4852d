-- When the wallet signed for this session last; null: when it signed in.
alter table payer_sessions add column signed_at timestamptz;
