import { assert } from '#core/assert.ts';
import type { Tenant } from '#core/mode.ts';
import type { Sql, Tx } from '#db/database.ts';
import { checked, wholeKey } from '#db/plan-shapes.ts';
import type { Row } from '#db/table.ts';
import {
  type IntentRow,
  type IntentStatus,
  type OpenIntent,
  type PaymentIntent,
  paymentIntents,
  toIntent,
  toRow,
} from '#payments/intent-rows.ts';

/**
 * SQL for the merchant number to which the contract pays an intent (`i`): the account's number when
 * the intent was created. An account that moves to a new contract first takes a position in its
 * order, so all attempts to pay an intent go to the same contract, which settles it once. See
 * docs/decisions/two-contracts.md.
 */
export const MERCHANT_OF_INTENT = `coalesce(
  (select f.merchant_number from former_merchants f
   where f.account_id = i.account_id and f.livemode = i.livemode and f.until_position >= i.position
   order by f.until_position, f.merchant_number limit 1),
  (select m.merchant_number from account_modes m
   where m.account_id = i.account_id and m.livemode = i.livemode))`;

const PAYABLE_COLUMNS = `${paymentIntents.columns}, ${MERCHANT_OF_INTENT} as merchant_number`;

/** Reads intents with the merchant number that paying them requires. */
export async function selectPayable(sql: Sql, ids: readonly string[]): Promise<PaymentIntent[]> {
  const rows = await sql.query<IntentRow>(
    `select ${PAYABLE_COLUMNS} from payment_intents i where id = any($1)`,
    [ids],
  );
  return rows.map(toIntent);
}

/** Reads intents by ID. Concurrent reads share a statement (`read-intents-together.ts`). */
export async function selectIntents(sql: Sql, ids: readonly string[]): Promise<PaymentIntent[]> {
  return (await paymentIntents.list(sql, 'where id = any($1)', [ids])).map(toIntent);
}

export async function selectIntent(
  sql: Sql,
  tenant: Tenant,
  id: string,
): Promise<PaymentIntent | null> {
  const row = await paymentIntents.findOwn(sql, tenant, id);
  return row === undefined ? null : toIntent(row);
}

/** Locks the intent until the commit, so that decisions about it are made one at a time. */
export async function lockIntent(
  tx: Tx,
  tenant: Tenant,
  id: string,
): Promise<PaymentIntent | null> {
  const row = await paymentIntents.findOwn(tx, tenant, id, 'for update');
  return row === undefined ? null : toIntent(row);
}

/** Locks several intents in ID order, so that no two transactions deadlock. */
export async function lockIntents(tx: Tx, ids: readonly string[]): Promise<PaymentIntent[]> {
  const rows = await tx.query<IntentRow>(
    `select ${PAYABLE_COLUMNS} from payment_intents i where id = any($1)
     order by id for update`,
    [ids],
  );
  return rows.map(toIntent);
}

/** Returns the intents that wait for confirmation by any of these payers, oldest first. */
export async function selectAskedIntents(
  sql: Sql,
  payerIds: readonly string[],
): Promise<PaymentIntent[]> {
  const rows = await sql.query<IntentRow>(
    `select i.* from unnest($1::text[]) as payer (id) cross join lateral (
       select ${paymentIntents.columns} from payment_intents
       where attempt ->> 'payerId' = payer.id and status in ('requires_action', 'processing')
         and ${checked("status = 'requires_action'")}
       offset 0) i
     order by i.confirm_by`,
    [payerIds],
  );
  return rows.map(toIntent);
}

/** Locks open intents past expiry and confirmations past their deadline; skips locked rows. */
export async function lockOverdueIntents(
  tx: Tx,
  filter: { readonly now: Date; readonly modes: readonly boolean[]; readonly limit: number },
): Promise<PaymentIntent[]> {
  const rows = await paymentIntents.list(
    tx,
    `where id = any(array(
       (select id from payment_intents
        where status = 'requires_payment_method' and expires_at <= $1
          and ${checked('livemode = any($3)')}
        order by expires_at limit $2)
       union all
       (select id from payment_intents
        where status = 'requires_action' and confirm_by <= $1 and ${checked('livemode = any($3)')}
        order by confirm_by limit $2)
       limit $2))
     order by id for update skip locked`,
    [filter.now, filter.limit, filter.modes],
  );
  return rows.map(toIntent);
}

/**
 * Locks a network's unpaid intents created before `before`, by expiry. Excludes intents whose
 * number the chain has settled, because their payers were charged.
 */
export async function lockUnpaidIntents(
  tx: Tx,
  filter: { readonly livemode: boolean; readonly before: Date; readonly limit: number },
): Promise<PaymentIntent[]> {
  const rows = await paymentIntents.list(
    tx,
    `where id in (
       select id from (
         select id, settlement_number from payment_intents
           where status = 'requires_payment_method' and livemode = $1
             and created - ahead_seconds * interval '1 second' < $2
         union all
         select id, settlement_number from payment_intents
           where status = 'requires_action' and livemode = $1
             and created - ahead_seconds * interval '1 second' < $2) unpaid
       where not exists (
         select from chain_payments c
         where c.livemode = $1 and c.number = unpaid.settlement_number)
       limit $3)
     order by id for update`,
    [filter.livemode, filter.before, filter.limit],
  );
  return rows.map(toIntent);
}

/** Marks intents and their payments as rebuilt from the chain, under these numbers. */
export async function markRecovered(
  tx: Tx,
  rebuilt: readonly { readonly id: string; readonly number: bigint }[],
): Promise<void> {
  await tx.query(
    `with rebuilt as (
       select * from unnest($1::text[], $2::bigint[]) as t (id, number)
     ), payment as (
       update payments p set recovered = true from rebuilt r where p.payment_intent_id = r.id
     )
     update payment_intents i set recovered = true, settlement_number = r.number
     from rebuilt r where i.id = r.id`,
    [rebuilt.map(({ id }) => id), rebuilt.map(({ number }) => number.toString())],
  );
}

/** Concurrent polls share this statement. */
export async function selectNextForTerminals(
  sql: Sql,
  terminalIds: readonly string[],
  now: Date,
): Promise<PaymentIntent[]> {
  const rows = await sql.query<IntentRow>(
    `select i.* from unnest($1::text[]) as asks (id) cross join lateral (
       select ${paymentIntents.columns} from payment_intents
       where terminal_id = asks.id and status = 'requires_payment_method'
         and ${checked('expires_at > $2')}
       order by terminal_id, position limit 1) i`,
    [terminalIds, now],
  );
  return rows.map(toIntent);
}

/**
 * Only the first pickup counts. If the intent was tapped before, the time of the tap is stored.
 * `now` is by the service's clock; the stored time is by the account's clock. @returns the stored
 * time; undefined if the terminal has no such intent.
 */
export async function updatePickedUp(
  sql: Sql,
  change: { readonly id: string; readonly terminalId: string; readonly now: Date },
): Promise<Date | undefined> {
  const rows = await sql.query<{ picked_up_at: Date }>(
    `update payment_intents set picked_up_at = coalesce(
       picked_up_at, least($3::timestamptz + ahead_seconds * interval '1 second', tapped_at))
     where id = $1 and ${checked('terminal_id = $2')} returning picked_up_at`,
    [change.id, change.terminalId, change.now],
  );
  return rows[0]?.picked_up_at;
}

/** Sets an earlier expiry of a locked, unpaid intent. */
export async function updateDeadlines(tx: Tx, id: string, expiresAt: Date): Promise<void> {
  await tx.query('update payment_intents set expires_at = $2 where id = $1', [id, expiresAt]);
}

export function insertIntents(tx: Tx, intents: readonly OpenIntent[]): Promise<void> {
  return paymentIntents.insertAll(tx, intents);
}

const NEW_STATES = paymentIntents.batch(
  1,
  [
    'id',
    'status',
    'attempt',
    'confirm_by',
    'last_payment_error',
    'declined_payer_id',
    'payment_id',
    'tx_hash',
    'cancellation_reason',
    'canceled_at',
    'tapped_at',
  ],
  { from_status: 'text' },
);

const UPDATE_STATES = `
  update payment_intents i
  set status = n.status, attempt = n.attempt, confirm_by = n.confirm_by,
    last_payment_error = n.last_payment_error, declined_payer_id = n.declined_payer_id,
    payment_id = n.payment_id, tx_hash = n.tx_hash, cancellation_reason = n.cancellation_reason,
    canceled_at = n.canceled_at, tapped_at = n.tapped_at
  from ${NEW_STATES.table('n')}
  where i.id = any(${NEW_STATES.all('id')}) and i.id = n.id and i.status = n.from_status
  returning i.id`;

/**
 * The WHERE repeats each row's expected status, so the transaction fails if a row has changed since
 * the decision.
 */
export async function updateIntentStates(
  tx: Tx,
  changes: readonly { readonly from: IntentStatus; readonly intent: PaymentIntent }[],
): Promise<void> {
  const rows = changes.map(({ from, intent }) => ({ ...toRow(intent), from_status: from }));
  const updated = await NEW_STATES.run(tx, UPDATE_STATES, { rows });
  assert(updated.length === rows.length, 'an intent changed under its lock');
}

/** The columns that show which intent has an order ID. */
const ORDER_ID = paymentIntents.pick([
  'account_id',
  'livemode',
  'order_id',
  'id',
  'amount',
  'recovered',
]);

export type OrderIdRow = Row<typeof ORDER_ID>;

export async function selectOrderIdsInUse(
  tx: Tx,
  orders: readonly { readonly tenant: Tenant; readonly orderId: string }[],
): Promise<OrderIdRow[]> {
  // Finds each order ID through the whole unique key: see `plan-shapes.ts`.
  return tx.query(
    `select i.* from unnest($1::text[], $2::boolean[], $3::text[])
         as wanted (account_id, livemode, order_id)
       cross join lateral (
         select ${ORDER_ID} from payment_intents p
         where ${wholeKey(
           ['p.order_id', 'p.account_id', 'p.livemode'],
           ['wanted.order_id', 'wanted.account_id', 'wanted.livemode'],
         )}
         offset 0) i`,
    [
      orders.map((want) => want.tenant.accountId),
      orders.map((want) => want.tenant.livemode),
      orders.map((want) => want.orderId),
    ],
  );
}
