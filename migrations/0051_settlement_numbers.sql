-- Settlement numbers are drawn when an intent is created, by each process in blocks of 256: the
-- contract keeps 256 of them in one slot.

create table settlement_number_blocks (
  livemode boolean primary key,
  -- Block n holds the numbers from 256 n on.
  next_block bigint not null,
  -- Another one makes every block invalid that was drawn before. Random, because a database that
  -- was put back to an earlier copy would count to the same one again.
  epoch bigint not null default (random() * 9007199254740991)::bigint
);

-- Above whatever was drawn before, with room for what the previous release goes on drawing while
-- both run.
insert into settlement_number_blocks (livemode, next_block)
select livemode, (highest + 1048576) / 256
from (values
  (false, (select last_value from settlement_number_test)),
  (true, (select last_value from settlement_number_live))) as drawn (livemode, highest);

-- `settlement_numbers` is for intents that were created without a number, by the previous release:
-- they get one at the first tap. It may tap intents that have one as well, and must not draw
-- another for them: two numbers would be two chances to be paid.
create function give_settlement_number() returns trigger language plpgsql as $$
begin
  select settlement_number into new.number from payment_intents where id = new.payment_intent_id;
  if new.number is null then
    update settlement_number_blocks set next_block = next_block + 1
      where livemode = new.livemode returning next_block * 256 - 1 into new.number;
  end if;
  return new;
end $$;

create trigger settlement_numbers_given before insert on settlement_numbers
  for each row execute function give_settlement_number();
