-- A key that only pays gas, for what payers send out of their wallets: no sale waits behind it.
alter table relayer_lanes drop constraint relayer_lanes_role_check;
alter table relayer_lanes add constraint relayer_lanes_role_check
  check (role in ('operator', 'registrar', 'sponsor'));
