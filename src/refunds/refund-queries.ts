import { HAS_TILL_PEOPLE } from '#accounts/shift-rows.ts';
import { assert, only } from '#core/assert.ts';
import { unitRatio } from '#core/currency-conversion.ts';
import type { Tenant } from '#core/mode.ts';
import { type Limit, limitFrom, type StoredShopSum } from '#core/shop-limit.ts';
import type { Sql, Tx } from '#db/database.ts';
import { type LocatedPage, selectLocatedPage, TENANT_KEY } from '#db/paging.ts';
import { ofTenant } from '#db/plan-shapes.ts';
import type { Row } from '#db/table.ts';
import type { Payment } from '#payments/payment.ts';
import { REFUND_FAILURES, type Refund, type RefundRow, refunds } from '#refunds/refund.ts';
import type { Earlier } from '#refunds/refund-share.ts';

/** The table's constraints hold that the other columns fit the status. */
function toRefund(row: RefundRow): Refund {
  assert(row.status !== 'succeeded' || row.tx_hash !== null, 'a succeeded refund has a tx_hash');
  return row as Refund;
}

export async function selectRefund(sql: Sql, tenant: Tenant, id: string): Promise<Refund | null> {
  const row = await refunds.findOwn(sql, tenant, id);
  return row === undefined ? null : toRefund(row);
}

/** Returns the refund with this reference on the contract, of any account. */
export async function selectReferencedRefund(
  tx: Tx,
  filter: { readonly livemode: boolean; readonly reference: Buffer },
): Promise<Refund | null> {
  const values = [filter.livemode, filter.reference];
  const row = await refunds.find(tx, 'where livemode = $1 and reference = $2', values);
  return row === undefined ? null : toRefund(row);
}

export async function selectRefunds(sql: Sql, ids: readonly string[]): Promise<Refund[]> {
  return (await refunds.list(sql, 'where id = any($1)', [ids])).map(toRefund);
}

/** Locks refunds in the order of their IDs. */
export async function lockRefunds(tx: Tx, ids: readonly string[]): Promise<Refund[]> {
  const rows = await refunds.list(tx, 'where id = any($1) order by id for update', [ids]);
  return rows.map(toRefund);
}

/** SQL: the refunds of an intent, which has at most one payment. */
const OF_INTENT = `payment_id = (
  select id from payments where payment_intent_id = ? and ${ofTenant('$1', '$2')})`;

const INDEXES = {
  payment_id: { columns: ['payment_id'], ordered: true },
  status: { columns: ['status', ...TENANT_KEY], ordered: true },
} as const;

export async function selectRefundPage(
  sql: Sql,
  filter: {
    readonly tenant: Tenant;
    readonly paymentId?: string | null;
    readonly paymentIntentId?: string | null;
    readonly status?: string | null;
  },
  page: LocatedPage,
): Promise<Refund[]> {
  const { paymentIntentId = null } = filter;
  const list = {
    table: 'refunds',
    columns: refunds.columns,
    filters: { payment_id: filter.paymentId, status: filter.status },
    indexes: INDEXES,
    ...(paymentIntentId === null ? {} : { found: { sql: OF_INTENT, value: paymentIntentId } }),
  };
  return (await selectLocatedPage<RefundRow>(sql, list, filter.tenant, page)).map(toRefund);
}

const EARLIER = refunds.pick(['amount', 'presentment', 'presentment_part', 'line_items', 'taxes']);

/** Used for a payment whose refunds are not needed to decide the next one. */
const NONE: Earlier = { parts: 0n, partsGave: 0n, refunds: [] };

/**
 * Returns the earlier refunds of a locked payment, in the order in which they were booked. Refunds
 * of a sale in USDC without lines depend only on the sum that is left, so they are not read.
 */
export async function selectEarlier(tx: Tx, payment: Payment): Promise<Earlier> {
  if (payment.presentment === null && payment.lines === null) return NONE;
  const rows = await tx.query<Row<typeof EARLIER>>(
    `select ${EARLIER} from refunds where payment_id = $1 and status <> 'failed'
     order by refunded_before nulls last, created, position`,
    [payment.id],
  );
  const parts = rows.filter((row) => row.presentment_part !== null);
  return {
    parts: parts.reduce((sum, row) => sum + (row.presentment_part ?? 0n), 0n),
    partsGave: parts.reduce((sum, row) => sum + row.amount, 0n),
    refunds: rows.map(({ amount, presentment, line_items: lineItems, taxes }) => {
      return { amount: BigInt(presentment?.amount ?? amount), lineItems, taxes };
    }),
  };
}

/**
 * Returns the sum of a day's refunds that count toward the limit. Exact while the order lock is
 * held.
 */
export async function selectRefundedSince(tx: Tx, tenant: Tenant, since: Date): Promise<bigint> {
  const rows = await tx.query<{ sum: bigint }>(
    `select coalesce(sum(amount), 0)::bigint as sum from refunds
     where account_id = $1 and livemode = $2 and created >= $3 and status <> 'failed'`,
    [tenant.accountId, tenant.livemode, since],
  );
  return rows[0]?.sum ?? 0n;
}

/**
 * Returns the sum of a day's refunds in minor units of a currency: refunds in that currency by
 * their price, any other at this rate, each rounded up.
 */
export async function selectUnitsRefundedSince(
  tx: Tx,
  filter: { readonly tenant: Tenant; readonly since: Date },
  priced: { readonly currency: string; readonly rate: string },
): Promise<bigint> {
  const { scale, one } = unitRatio(priced);
  const rows = await tx.query<{ sum: bigint }>(
    `select coalesce(sum(case when presentment ->> 'currency' = $4
         then (presentment ->> 'amount')::numeric
         else div(amount * $5::numeric + $6::numeric - 1, $6::numeric) end), 0)::bigint as sum
     from refunds
     where account_id = $1 and livemode = $2 and created >= $3 and status <> 'failed'`,
    [
      ...[filter.tenant.accountId, filter.tenant.livemode, filter.since],
      ...[priced.currency, scale, one],
    ],
  );
  return only(rows, 'sum of refunds').sum;
}

/** Returns the sum of a payment's refunds in the currency of its price. */
export async function selectUnitsRefunded(tx: Tx, paymentId: string): Promise<bigint> {
  const rows = await tx.query<{ sum: bigint }>(
    `select coalesce(sum((presentment ->> 'amount')::bigint), 0)::bigint as sum
     from refunds where payment_id = $1 and status <> 'failed'`,
    [paymentId],
  );
  return only(rows, 'sum of refunds').sum;
}

export async function selectDailyLimit(tx: Tx, accountId: string): Promise<Limit> {
  const rows = await tx.query<{ atoms: bigint; stored: StoredShopSum | null }>(
    `select refund_daily_limit as atoms, refund_daily_limit_presentment as stored
     from accounts where id = $1`,
    [accountId],
  );
  const { atoms, stored } = only(rows, 'account');
  return limitFrom(atoms, stored);
}

/**
 * Returns what a terminal may refund of one sale while no person is signed in: its own limit, or
 * else the account's if nobody has a PIN, or else nothing.
 */
export async function selectTillLimit(tx: Tx, terminalId: string): Promise<Limit> {
  const rows = await tx.query<{ atoms: bigint; stored: StoredShopSum | null }>(
    `select coalesce(
         t.refund_limit, case when p.found then 0 else a.till_refund_limit end) as atoms,
       case when t.refund_limit is not null then t.refund_limit_presentment
         when not p.found then a.till_refund_limit_presentment end as stored
     from terminals t join accounts a on a.id = t.account_id,
       lateral (select ${HAS_TILL_PEOPLE('a.id')} as found) p
     where t.id = $1`,
    [terminalId],
  );
  const { atoms, stored } = only(rows, 'terminal');
  return limitFrom(atoms, stored);
}

export async function insertRefund(
  tx: Tx,
  refund: Refund,
  failureMessage: string | null,
): Promise<void> {
  await refunds.insert(tx, { ...refund, failure_message: failureMessage });
}

/** The table's check refuses more than the payment's amount. */
export async function reserve(tx: Tx, paymentId: string, amount: bigint): Promise<void> {
  const rows = await tx.query(
    `update payments set amount_reserved = amount_reserved + $2
     where id = $1 and amount_reserved + $2 <= amount returning id`,
    [paymentId, amount],
  );
  assert(rows.length === 1, 'a refund above the remaining amount got past its check');
}

/**
 * Books a succeeded refund: its reserved amount becomes refunded.
 * @returns the amount refunded before it.
 */
export async function book(tx: Tx, paymentId: string, amount: bigint): Promise<bigint> {
  const rows = await tx.query<{ before: bigint }>(
    `update payments set amount_refunded = amount_refunded + $2
     where id = $1 and amount_refunded + $2 <= amount_reserved
     returning amount_refunded - $2 as before`,
    [paymentId, amount],
  );
  assert(rows.length === 1, 'a refund was booked that was not reserved');
  return only(rows, 'booked payment').before;
}

/** Releases the reserved amount of a failed refund. */
export async function release(tx: Tx, paymentId: string, amount: bigint): Promise<void> {
  const rows = await tx.query(
    `update payments set amount_reserved = amount_reserved - $2
     where id = $1 and amount_reserved - $2 >= amount_refunded returning id`,
    [paymentId, amount],
  );
  assert(rows.length === 1, 'a refund was released that was not reserved');
}

/** `refundedBefore` is the result of `book`; `null` if the refund failed. */
export async function updateEnded(
  tx: Tx,
  refund: Refund & { status: 'succeeded' | 'failed' },
  refundedBefore: bigint | null,
): Promise<void> {
  const rows = await tx.query(
    `update refunds set status = $2, tx_hash = $3, failure_code = $4, failure_message = $5,
       updated = $6, receipt_number = $7, refunded_before = $8, shop_rate = $9
     where id = $1 and status = 'pending' returning id`,
    [
      refund.id,
      refund.status,
      refund.tx_hash,
      refund.status === 'failed' ? refund.failure_code : null,
      refund.status === 'failed' ? REFUND_FAILURES[refund.failure_code] : null,
      refund.updated,
      refund.receipt_number,
      refundedBefore,
      refund.shop_rate,
    ],
  );
  assert(rows.length === 1, 'a refund ended twice');
}

/** Writes the numbers of refunds that have just succeeded, while their locks are held. */
export async function updateReceiptNumbers(tx: Tx, ended: readonly Refund[]): Promise<void> {
  const numbered = ended.filter(({ receipt_number: receiptNumber }) => receiptNumber !== null);
  if (numbered.length === 0) return;
  await tx.query(
    `update refunds r set receipt_number = n.receipt_number
     from unnest($1::text[], $2::text[]) as n (id, receipt_number)
     where r.id = any($1) and r.id = n.id and r.receipt_number is null`,
    [
      numbered.map(({ id }) => id),
      numbered.map(({ receipt_number: receiptNumber }) => receiptNumber),
    ],
  );
}

/**
 * Adds the amount of a user's request to the UTC day's sum.
 * @returns the sum, including this amount.
 */
export async function addToRefundDay(
  tx: Tx,
  refund: { readonly accountId: string; readonly amount: bigint; readonly now: Date },
): Promise<bigint> {
  const rows = await tx.query<{ requested: bigint }>(
    `insert into refund_days as d (account_id, day, requested)
     values ($1, ($3::timestamptz at time zone 'UTC')::date, $2)
     on conflict (account_id) do update
     set requested = case when d.day = excluded.day then d.requested else 0 end
         + excluded.requested,
       day = excluded.day
     returning requested`,
    [refund.accountId, refund.amount, refund.now],
  );
  return only(rows, 'sum of refunds').requested;
}
