-- Shifts of people at tills, and who was in at each sale and refund.

create table shifts (
  id text collate "C" primary key,
  terminal_id text collate "C" not null references terminals (id),
  account_id text collate "C" not null references accounts (id),
  -- The person who is in, or was when it ended. Handing over changes it and keeps the shift.
  user_id text collate "C" not null references users (id),
  -- The PIN with which the person came in. The shift gives the person's rights only while it is the
  -- person's current one; `null` after a loss of data, when it may have been changed meanwhile.
  pin_id uuid,
  started_at timestamptz(3) not null,
  ended_at timestamptz(3)
);

create unique index shifts_open on shifts (terminal_id) where ended_at is null;

-- The person who was in at the till; `null` if nobody was.
alter table payment_intents add column cashier_id text collate "C";
alter table payments add column cashier_id text collate "C";
alter table refunds add column cashier_id text collate "C";

-- The sale whose discount the code allowed.
alter table manager_codes add column payment_intent_id text collate "C";
