-- Gas that callers from outside make the operator spend: one row for each call, written before the call is
-- requested. The daily limits are sums of these rows, so they count over all processes. A call that
-- sent nothing, and a payment that settled, loses its row; any other result replaces the reserved gas
-- with the used gas.

create table gas_spending (
  id bigint generated always as identity primary key,
  livemode boolean not null,
  -- Kind and subject of the settlement job.
  kind text collate "C" not null,
  subject_id text collate "C" not null,
  wallet text collate "C" not null,
  -- The wallet had paid on this network before, and none of its calls had failed that day.
  trusted boolean not null,
  -- The pay link or tag at which a wallet with code pays.
  door text collate "C",
  -- The sale for which a wallet is deployed, if its fees cover the deployment.
  covered_by text collate "C",
  gas bigint not null check (gas >= 0),
  used bigint not null default 0 check (used >= 0),
  -- `null` while the result is unknown.
  failed boolean,
  created timestamptz(3) not null
);

create index gas_spending_day on gas_spending (livemode, kind, created);
create index gas_spending_door on gas_spending (door, created) where door is not null;
create index gas_spending_pending on gas_spending (kind, subject_id) where failed is null;
create index gas_spending_covered on gas_spending (covered_by) where covered_by is not null;
create index gas_spending_created on gas_spending (created);
