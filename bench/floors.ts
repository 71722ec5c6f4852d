/**
 * The least work with which PostgreSQL can create an intent: insert the rows of key, intent, event
 * and delivery in one statement and one transaction, with the real tables and indexes.
 */
export const CREATE_FLOOR = `
with ids as (
  select 'pi_' || translate(gen_random_uuid()::text, '-', '') as intent,
    'evt_' || translate(gen_random_uuid()::text, '-', '') as event,
    gen_random_uuid()::text as key,
    substr(translate(encode(sha256(gen_random_uuid()::text::bytea), 'base64'), '+/=', 'aZx'), 1, 8)
      as order_id,
    (random() * 1e15)::bigint as position
), key as (
  insert into idempotency_keys (account_id, livemode, caller, key, fingerprint, method, path,
    status, resource, response_status, response_body, created, expires_at)
  select :account, false, 'floor', key, decode(repeat('0123456789abcdef', 4), 'hex'), 'POST',
    '/v1/payment_intents', 'completed', intent, 201, repeat('b', 560), now(),
    now() + interval '48 hours'
  from ids
), intent as (
  insert into payment_intents (id, account_id, livemode, position, created, amount, terminal_id,
    order_id, metadata, source, expires_at, status)
  select intent, :account, false, position, now(), 2500000, 'tml_floor0000000000000000', order_id,
    '{"table":"7"}', 'api', now() + interval '2 minutes', 'requires_payment_method'
  from ids
), event as (
  insert into events (id, account_id, livemode, position, created, type, object_id, body)
  select event, :account, false, position, now(), 'payment_intent.created', intent, repeat('b', 760)
  from ids
)
insert into webhook_due (endpoint_id, event_created, event_position, id, account_id, livemode,
  event_id, event_type, created, updated, due_at)
select 'we_floor00000000000000000', now(), position, event, :account, false, event,
  'payment_intent.created', now(), now(), now()
from ids;
`;

/** Number of stored intents that the service and pgbench read. */
export const STORED_INTENTS = 100_000;

/** Returns the id of the n-th stored intent. */
export function storedId(n: number): string {
  return `pi_${String(n).padStart(22, '0')}`;
}

export const STORE_INTENTS = `
insert into payment_intents (id, account_id, livemode, position, created, amount, terminal_id,
  order_id, metadata, source, expires_at, status)
select 'pi_' || lpad(n::text, 22, '0'), $1, false, n,
  now() - interval '1 day' + n * interval '1 ms', 2500000, $2, lpad(to_hex(n), 8, '0'),
  '{"table":"7"}', 'api', now() + interval '1 day', 'requires_payment_method'
from generate_series(0, $3::int - 1) as n`;

/** Reads every column of an intent by its id. */
export const READ_FLOOR = `
\\set n random(0, ${STORED_INTENTS - 1})
select id, account_id, livemode, position, created, amount, terminal_id, order_id, description,
  metadata, source, split_group, expires_at, picked_up_at, tapped_at, status, attempt, confirm_by,
  last_payment_error, payment_id, tx_hash, cancellation_reason, canceled_at
from payment_intents where id = 'pi_' || lpad(:n::text, 22, '0');
`;
