-- concurrently
-- The operations of a timelock are read from its alarms, of which a long life leaves many others.

create index concurrently if not exists chain_alarms_contract on chain_alarms (livemode, id)
  where kind = 'contract_changed';
