import { assert, only } from '#core/assert.ts';
import type { Tenant } from '#core/mode.ts';
import type { OfflineSum } from '#core/offline-sums.ts';
import type { Sql, Tx } from '#db/database.ts';
import { type Page, selectPage } from '#db/paging.ts';
import { checked, wholeKey } from '#db/plan-shapes.ts';
import { type AllSet, as, type Row, table } from '#db/table.ts';
import type { BounceReason, OfflineStatus } from '#payments/offline/offline-states.ts';
import type { OfflineQuote, PresentmentProblem } from '#payments/offline/presentment-terms.ts';
import { type TotalsOf, valuesOf } from '#payments/shift-totals-queries.ts';
import type { Hex } from '#settlement/chain-requests.ts';

/** The topic that wakes the worker for offline sales that need another settlement job. */
export const OFFLINE_WAKEUP = 'offline-sales';

export const offlinePayments = table(
  'offline_payments',
  {
    id: 'text',
    account_id: 'text',
    livemode: 'boolean',
    position: 'bigint',
    created: 'timestamptz',
    terminal_id: 'text',
    location_id: 'text?',
    payer_address: as<Hex>('text'),
    nonce: as<Hex>('text'),
    amount: 'bigint',
    value: 'bigint',
    accepted_at: 'timestamptz',
    counted_at: 'timestamptz',
    status: as<OfflineStatus>('text'),
    bounce_reason: as<BounceReason | null>('text?'),
    payment_intent_id: 'text?',
    payment_id: 'text?',
    replaces: 'text?',
    /** The person who was signed in at the till; `null` if none, or not one of the account's. */
    cashier_id: 'text?',
    /** The discount on the whole sale, in the units of its lines; `null` without lines. */
    discount: 'bigint?',
    /** The price in the shop's currency; `null` for a sale in USDC. */
    presentment: as<OfflineQuote | null>('jsonb?'),
    /** Why the price that the record gave in the shop's currency does not count. */
    presentment_problem: as<PresentmentProblem | null>('text?'),
  },
  { retry_at: 'timestamptz?' },
);

export type OfflinePaymentRow = Row<typeof offlinePayments>;

/** An offline sale in its final status. */
export type EndedOffline = OfflinePaymentRow & { readonly status: 'succeeded' | 'bounced' };

/** The fields that identify a sale within its network. */
export interface OfflineIdentity {
  readonly from: Hex;
  readonly nonce: Hex;
}

export async function selectOfflineByIdentity(
  sql: Sql,
  tenant: Tenant,
  identities: readonly OfflineIdentity[],
): Promise<OfflinePaymentRow[]> {
  return sql.query<OfflinePaymentRow>(
    `select o.* from unnest($1::text[], $2::text[]) as wanted (nonce, payer)
       cross join lateral (
         select ${offlinePayments.columns} from offline_payments p
         where ${wholeKey(
           ['p.nonce', 'p.payer_address', 'p.livemode', 'p.account_id'],
           ['wanted.nonce', 'wanted.payer', '$4', '$3'],
         )}
         offset 0) o`,
    [
      identities.map(({ nonce }) => nonce),
      identities.map(({ from }) => from),
      tenant.accountId,
      tenant.livemode,
    ],
  );
}

export async function selectOfflinePayment(
  sql: Sql,
  tenant: Tenant,
  id: string,
): Promise<OfflinePaymentRow | undefined> {
  return offlinePayments.findOwn(sql, tenant, id);
}

export interface OfflineFilters {
  readonly terminal_id?: string | null;
  readonly status?: string | null;
}

const INDEXES = {
  terminal_id: { columns: ['terminal_id'], ordered: true },
  status: { columns: ['status', 'account_id', 'livemode'], ordered: true },
} as const;

export async function selectOfflinePage(
  sql: Sql,
  { tenant, filters }: { readonly tenant: Tenant; readonly filters: OfflineFilters },
  page: Page,
): Promise<OfflinePaymentRow[]> {
  const { columns } = offlinePayments;
  const list = { table: 'offline_payments', columns, filters: { ...filters }, indexes: INDEXES };
  return selectPage<OfflinePaymentRow>(sql, list, tenant, page);
}

/**
 * Returns the columns of an {@link OfflineSum}, as `countedSum` counts it. The parameter is the
 * currency of the limits.
 */
function sumColumns(parameter: string): string {
  const isOther = `coalesce(o.presentment ->> 'currency', '') <> ${parameter}`;
  return `coalesce(sum((o.presentment ->> 'amount')::bigint) filter (where not ${isOther}), 0)
       ::bigint as units,
     coalesce(sum(o.amount * 10000 / (10000 + coalesce((o.presentment ->> 'margin')::bigint, 0)))
       filter (where ${isOther}), 0)::bigint as atoms`;
}

/** The parameter of {@link sumColumns} for limits in atoms: no sale is in this currency. */
const NO_CURRENCY = '-';

/** The number and sum of a till's sales that are still being processed. */
export interface UnderWay extends OfflineSum {
  readonly count: number;
}

/** @param currency the currency of the till's limits; `null` for USDC */
export async function selectUnderWay(
  tx: Tx,
  terminalId: string,
  currency: string | null,
): Promise<UnderWay> {
  const rows = await tx.query<UnderWay>(
    `select count(*)::int as count, ${sumColumns('$2')}
     from offline_payments o where terminal_id || '' = $1 and status = 'processing'`,
    [terminalId, currency ?? NO_CURRENCY],
  );
  return only(rows, 'sum of offline sales');
}

/** A card's sales at one till on one UTC day. */
export interface CardDay extends OfflineSum {
  readonly address: Hex;
  /** The beginning of the day. */
  readonly day: Date;
}

/** Sums each card's sales at a till on each of these days, without bounced ones. */
export async function selectCardDays(
  tx: Tx,
  { terminalId, currency }: { readonly terminalId: string; readonly currency: string | null },
  days: readonly Pick<CardDay, 'address' | 'day'>[],
): Promise<CardDay[]> {
  return tx.query<CardDay>(
    `select wanted.address, wanted.day, spent.units, spent.atoms
     from (
       select distinct * from unnest($2::text[], $3::timestamptz[]) as t (address, day)
     ) wanted cross join lateral (
       select ${sumColumns('$4')} from offline_payments o
       where o.payer_address = wanted.address and o.counted_at >= wanted.day
         and o.counted_at < wanted.day + interval '24 hours'
         and ${checked("o.terminal_id = $1 and o.status <> 'bounced'")}
       offset 0) spent`,
    [
      terminalId,
      days.map(({ address }) => address),
      days.map(({ day }) => day),
      currency ?? NO_CURRENCY,
    ],
  );
}

/** A payment that was rebuilt from the chain and has one of a sale's possible order IDs. */
export interface RebuiltSale {
  readonly order_id: string;
  readonly payer_address: Hex;
  readonly amount: bigint;
  readonly payment_id: string;
  readonly payment_intent_id: string;
}

export async function selectRebuiltSales(
  tx: Tx,
  tenant: Tenant,
  orderIds: readonly string[],
): Promise<RebuiltSale[]> {
  return tx.query<RebuiltSale>(
    `select p.* from unnest($3::text[]) as wanted (order_id) cross join lateral (
       select order_id, payer_address, amount, id as payment_id, payment_intent_id
       from payments r
       where ${wholeKey(
         ['r.order_id', 'r.account_id', 'r.livemode'],
         ['wanted.order_id', '$1', '$2'],
       )} and recovered
       offset 0) p`,
    [tenant.accountId, tenant.livemode, orderIds],
  );
}

export async function updateRebuiltOffline(
  tx: Tx,
  claimed: readonly { readonly intentId: string; readonly offline: object }[],
): Promise<void> {
  await tx.query(
    `update payment_intents i set offline = c.offline::jsonb
     from unnest($1::text[], $2::text[]) as c (id, offline) where i.id = c.id`,
    [claimed.map((one) => one.intentId), claimed.map((one) => JSON.stringify(one.offline))],
  );
}

/** Marks the offline sales of these intents as paid. @returns the changed rows. */
export async function endPaidOffline(
  tx: Tx,
  paid: readonly { readonly intentId: string; readonly paymentId: string }[],
): Promise<EndedOffline[]> {
  return tx.query<EndedOffline>(
    `update offline_payments o
     set status = 'succeeded', payment_id = p.payment_id, bounce_reason = null, retry_at = null
     from unnest($1::text[], $2::text[]) as p (intent_id, payment_id)
     where o.payment_intent_id = p.intent_id and o.status <> 'succeeded'
     returning ${offlinePayments.of('o')}`,
    [paid.map(({ intentId }) => intentId), paid.map(({ paymentId }) => paymentId)],
  );
}

/** Ends a sale that cannot be paid. The caller has locked its intent. */
export async function bounceOffline(
  tx: Tx,
  sale: { readonly id: string; readonly reason: BounceReason },
): Promise<EndedOffline> {
  const rows = await offlinePayments.update(
    tx,
    { status: 'bounced', bounce_reason: sale.reason, retry_at: null },
    { where: "id = $1 and status = 'processing'", values: [sale.id] },
  );
  assert(rows.length === 1, 'an offline payment changed under the lock of its intent');
  return rows[0] as EndedOffline;
}

/** Sets the time of the next retry of these intents' sales; `null` while they have a job. */
export async function postponeOffline(
  tx: Tx,
  intentIds: readonly string[],
  at: Date | null,
): Promise<void> {
  if (intentIds.length === 0) return;
  await tx.query(
    `update offline_payments set retry_at = $2
     where payment_intent_id = any($1) and status = 'processing'`,
    [intentIds, at],
  );
}

const DUE = offlinePayments.pick(['id', 'livemode', 'payment_intent_id', 'value', 'retry_at']);
/** A sale that is due for another settlement job. */
export type DueOffline = AllSet<Row<typeof DUE>>;

/** Reads the sales that are due for another settlement job, longest wait first. */
export async function selectDueOffline(
  sql: Sql,
  now: Date,
  { modes, limit }: { readonly modes: readonly boolean[]; readonly limit: number },
): Promise<DueOffline[]> {
  return sql.query<DueOffline>(
    `select ${DUE} from offline_payments
     where retry_at <= $1 and ${checked('livemode = any($2)')} order by retry_at limit $3`,
    [now, modes, limit],
  );
}

/** Locks a due sale. @returns false if it has changed since it was read. Lock its intent first. */
export async function lockDueOffline(tx: Tx, due: DueOffline): Promise<boolean> {
  const rows = await tx.query(
    'select from offline_payments where id = $1 and retry_at = $2 for update',
    [due.id, due.retry_at],
  );
  return rows.length === 1;
}

/** Postpones a due sale, unless it has changed since it was read and may have a job by now. */
export async function postponeDue(
  sql: Sql,
  { id, retry_at: read }: Pick<DueOffline, 'id' | 'retry_at'>,
  at: Date,
): Promise<void> {
  await sql.query('update offline_payments set retry_at = $3 where id = $1 and retry_at = $2', [
    id,
    read,
    at,
  ]);
}

/**
 * Returns the payer addresses of bounced sales at a merchant, newest first. A sale whose cart was
 * paid online says nothing against its wallet.
 */
export async function selectBouncedAddresses(
  sql: Sql,
  tenant: Tenant,
  limit: number,
): Promise<string[]> {
  const rows = await sql.query<{ payer_address: string }>(
    `select payer_address from offline_payments
     where account_id || '' = $1 and livemode = $2 and status = 'bounced'
       and bounce_reason <> 'already_paid'
     group by payer_address order by max(created) desc limit $3`,
    [tenant.accountId, tenant.livemode, limit],
  );
  return rows.map((row) => row.payer_address);
}

/** The numbers and sums of the offline sales that were forwarded in a period. */
export interface OfflineFigures {
  readonly payments: number;
  readonly sales: bigint;
  readonly bounced: number;
  readonly bounced_amount: bigint;
}

export async function selectOfflineFigures(sql: Sql, filter: TotalsOf): Promise<OfflineFigures> {
  const rows = await sql.query<OfflineFigures>(
    `select count(*) filter (where status = 'succeeded')::int as payments,
       coalesce(sum(amount) filter (where status = 'succeeded'), 0)::bigint as sales,
       count(*) filter (where status = 'bounced')::int as bounced,
       coalesce(sum(amount) filter (where status = 'bounced'), 0)::bigint as bounced_amount
     from offline_payments
     where account_id = $1 and livemode = $2 and created >= $3 and created < $4
       ${filter.terminalId === null ? '' : `and ${checked('terminal_id = $5')}`}`,
    valuesOf(filter),
  );
  return only(rows, 'sums of offline sales');
}
