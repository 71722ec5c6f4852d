-- What every process has to know before it takes a tap: whether its network settles just now.

-- What each worker sees of its network. The defaults are those of a healthy worker, so that a worker
-- of the release before, which writes none of them, does not stop its network.
alter table relayer_workers
  -- Why nothing would settle through this worker: no_node, clock, paused.
  add column reasons text[] not null default '{}',
  -- Operator lanes that it holds, and those of them that can pay for gas.
  add column lanes integer not null default 0,
  add column funded_lanes integer not null default 0,
  -- False until it has seen a block: such a worker takes no lanes and is left out of the shares.
  add column shares_lanes boolean not null default true;

create table network_states (
  livemode boolean primary key,
  -- What the database has lost is being read from the chain: until that is done nothing is taken.
  recovering boolean not null default false
);

insert into network_states (livemode) values (false), (true);
