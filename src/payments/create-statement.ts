import { columnsFrom, type RowOf } from '#db/columns.ts';
import { stampSteps } from '#db/commit-order.ts';
import { APPEND_STEPS } from '#events/append.ts';
import { NEW_KEY_COLUMNS } from '#idempotency/batch-queries.ts';
import { IDEMPOTENCY_HOURS } from '#idempotency/request.ts';
import { PLACES_PER_CREATE } from '#payments/create-request.ts';
import { NEW_INTENT_COLUMNS } from '#payments/queries.ts';

const TYPES = {
  item: 'int',
  place: 'int',
  account_id: 'text',
  livemode: 'boolean',
  created: 'timestamptz',
  caller: 'text',
  key: 'text',
  fingerprint: 'bytea',
  method: 'text',
  path: 'text',
  key_created: 'timestamptz',
  id: 'text',
  number: 'bigint',
  epoch: 'bigint',
  amount: 'bigint',
  terminal_id: 'text',
  order_id: 'text',
  order_id_given: 'boolean',
  description: 'text',
  metadata: 'jsonb',
  source: 'text',
  split_group: 'text',
  expires_at: 'timestamptz',
  picked_up_at: 'timestamptz',
  ahead_seconds: 'bigint',
  tipping: 'jsonb',
  key_hash: 'bytea',
  traceparent: 'text',
  body: 'text',
  event_id: 'text',
  event_head: 'text',
} as const;

/** One intent to be created, with its key, its event and the stored response. */
export type NewCreate = RowOf<typeof TYPES>;

/** Of {@link CREATE}: `$1` is the event's type and `$2` its topics. */
export const NEW_CREATES = columnsFrom(3, TYPES);

type Name = keyof typeof TYPES;

/** One column of the row whose number is `n`. */
function at(name: Name): string {
  return NEW_CREATES.at(name, 'n');
}

/** By these it is decided whether a row is plain, and which place it gets. */
const DECIDING: readonly Name[] = [
  'place',
  'account_id',
  'livemode',
  'created',
  'ahead_seconds',
  'caller',
  'key',
  'epoch',
  'terminal_id',
  'order_id',
  'order_id_given',
  'key_hash',
];

/**
 * What is plain goes in one statement that is a transaction of its own: keys with their responses,
 * intents, events and deliveries, in the account's order. A row is plain when its key and order id
 * are new, its terminal is there and active, the API key or device key that asks still stands, its
 * settlement number is still good, and nobody else holds the account's order. Rows of known
 * idempotency keys come back, so that a batch of replays writes nothing.
 *
 * The steps pass on the numbers of rows and the columns that the next step decides by. All other
 * columns are read from the parameters where they are written, because every step copies what it
 * passes on.
 *
 * Sub-queries that pick one row each by its whole key: as a join, the plan used only a part of it.
 * A plan that was made while the tables were empty stays in use, so no other index may look as good
 * as the right one at that moment: that is why the terminal's account is not a condition, and the
 * order id is an ordered range. Nor may the planner see how many rows there are, hence the `select`
 * around the array: for few rows it would make a new plan for each call, which takes a millisecond.
 */
export const CREATE = `
  with input as materialized (
    select item, n::int as n, ${NEW_CREATES.select(DECIDING, 'n')}
    from unnest((select ${NEW_CREATES.all('item')})) with ordinality as t (item, n)
  ), known as materialized (
    select i.item, k.*
    from input i cross join lateral (
      select fingerprint, status, response_status, response_body, expires_at
      from idempotency_keys k
      where k.account_id = i.account_id and k.livemode = i.livemode
        and k.caller = i.caller and k.key = i.key
      offset 0) k
  ), ended as materialized (
    select h.key_hash
    from (select distinct key_hash from input where key_hash is not null) h
    where not coalesce((
        select coalesce(k.revoked_at > now(), true) and coalesce(k.expires_at > now(), true)
        from api_keys k where k.hash = h.key_hash
      ), (
        select coalesce(d.revoked_at > now(), true)
        from device_keys d where d.hash = h.key_hash
      ), false)
  ), open as materialized (
    select item, n, place, account_id, livemode, created, ahead_seconds from input i
    where i.item <> all (array(select item from known))
      and (
        select t.status = 'active' and t.account_id = i.account_id and t.livemode = i.livemode
        from terminals t where t.id = i.terminal_id)
      and (i.key_hash is null or i.key_hash <> all (array(select key_hash from ended)))
      and i.epoch = case when i.livemode
        then (select epoch from settlement_number_blocks where livemode)
        else (select epoch from settlement_number_blocks where not livemode) end
      and (not i.order_id_given or (
        select 1 from payment_intents p
        where p.account_id = i.account_id and p.livemode = i.livemode
          and p.order_id between i.order_id and i.order_id
        order by p.order_id limit 1
      ) is null)
  ), ${stampSteps(PLACES_PER_CREATE)}, plain as materialized (
    select o.item, o.n, o.account_id, o.livemode, o.created, s.before + o.place as position
    from open o join stamped s on s.account_id = o.account_id and s.livemode = o.livemode
  ), keys as (
    insert into idempotency_keys (${NEW_KEY_COLUMNS})
    select account_id, livemode, ${at('caller')}, ${at('key')}, ${at('fingerprint')},
      ${at('method')}, ${at('path')}, 'completed', ${at('id')}, 201, ${at('body')},
      ${at('key_created')}, ${at('key_created')} + interval '${IDEMPOTENCY_HOURS} hours'
    from plain
  ), intents as (
    insert into payment_intents (${NEW_INTENT_COLUMNS})
    select ${at('id')}, account_id, livemode, position, created, ${at('amount')},
      ${at('terminal_id')}, ${at('order_id')}, ${at('description')}, ${at('metadata')},
      ${at('source')}, ${at('split_group')}, ${at('expires_at')}, ${at('picked_up_at')},
      'requires_payment_method', ${at('number')}, ${at('ahead_seconds')}, ${at('tipping')},
      ${at('traceparent')}
    from plain
  ), happened as (
    select ${at('event_id')} as id, account_id, livemode, position + 1 as position, created,
      $1 as type, $2::text[] as topics, ${at('id')} as object_id,
      ${at('event_head')} || (position + 1) || ',"data":{"object":' || ${at('body')} || '}}' as body
    from plain
  ), ${APPEND_STEPS}
  select array(select item from plain) as items, array(select item from open) as open,
    (select count(*) from due) as deliveries,
    pg_current_wal_flush_lsn()::text as wal_position,
    substr(pg_walfile_name(pg_current_wal_flush_lsn()), 1, 8) as wal_timeline, known.*
  from (values (1)) one left join known on true`;
