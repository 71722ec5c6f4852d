-- How far the clock of an account's test mode runs ahead, where whoever writes has it in hand.
-- `created` and the other times at which something happened follow that clock. Deadlines are kept by
-- the service's own clock, so that workers compare them with one time; what is shown of them is
-- `ahead_seconds` of their row later. 0 in live mode, always.
alter table account_modes add column ahead_seconds bigint not null default 0;
update account_modes m set ahead_seconds = c.advanced_seconds
from test_clocks c where c.account_id = m.account_id and not m.livemode;
alter table account_modes add constraint account_modes_live_clock_is_real
  check (not livemode or ahead_seconds = 0) not valid;
alter table payment_intents add column ahead_seconds bigint not null default 0;
alter table payments add column ahead_seconds bigint not null default 0;
