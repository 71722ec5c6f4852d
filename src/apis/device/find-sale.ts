import { type Refusal, refuse } from '#core/answer.ts';
import { HOUR_MS } from '#core/durations.ts';
import type { Tenant } from '#core/mode.ts';
import { shownAs } from '#core/money.ts';
import type { ApiContext } from '#payments/api-context.ts';
import { renderPaidPrice } from '#payments/paid-quote.ts';
import { type Payment, paidFor } from '#payments/payment.ts';
import { selectPaymentPage } from '#payments/payment-queries.ts';
import { selectNumbered, selectSettled } from '#payments/receipt-queries.ts';
import { findReceipt, findRefundReceipt } from '#payments/receipt-url.ts';
import { type Allowance, giveBackAttempt, takeAttempt } from '#people/attempt-limits.ts';

/**
 * Failed look-ups per hour. A clerk may mistype a few numbers, but a till cannot enumerate order
 * IDs or amounts.
 */
const MISSES: Allowance = { attempts: 10, windowMs: HOUR_MS };
/**
 * Maximum number of payments per order ID. Usually there is one, but payments rebuilt from the
 * chain may have the same ID.
 */
const OF_ONE_ORDER = 10;

const NUMBER = /^[2-9A-Z]{5}-[0-9]+$/;

export interface SaleQuery {
  readonly receipt?: string;
  readonly order_id?: string;
  readonly amount?: number;
  readonly presentment_amount?: number;
}

/** True if the query looks for one sale; false if it lists payments. */
export function asksForSale(query: SaleQuery): boolean {
  return query.receipt !== undefined || query.order_id !== undefined || namesSum(query);
}

function namesSum({ amount, presentment_amount: price }: SaleQuery): boolean {
  return amount !== undefined || price !== undefined;
}

function checkQuery(query: SaleQuery): Refusal | null {
  const { receipt, order_id, amount, presentment_amount: price } = query;
  if (amount !== undefined && price !== undefined) {
    const message = 'Send amount or presentment_amount, not both.';
    return refuse('parameter_invalid', message, 'presentment_amount');
  }
  if (receipt !== undefined) {
    if (order_id === undefined) return null;
    return refuse('parameter_invalid', 'Send receipt or order_id, not both.', 'receipt');
  }
  if (order_id === undefined) {
    return refuse('parameter_missing', 'amount requires receipt or order_id.', 'order_id');
  }
  if (namesSum(query)) return null;
  const message = 'order_id requires amount: the amount that was paid, including the tip.';
  return refuse('parameter_missing', message, 'amount');
}

/**
 * Finds a sale by receipt number. Numbers count up per terminal, so a terminal could read all sales
 * by counting. Another terminal's number therefore requires the amount of the sale or of the
 * receipt.
 */
async function byNumber(
  { db }: ApiContext,
  { tenant, terminalId, query }: SaleAsked,
  number: string,
): Promise<Payment[]> {
  const { amount } = query;
  const numbered = await selectNumbered(db, tenant, number);
  const shown = numbered.filter(({ payment, printedAmount }) => {
    if (!namesSum(query)) return payment.terminal_id === terminalId;
    return costs(payment, query) || (amount !== undefined && isShownAs(printedAmount, amount));
  });
  return shown.map(({ payment }) => payment);
}

/** True if a screen or receipt may show `atoms` as the amount `typed` that a clerk enters. */
function isShownAs(atoms: bigint, typed: number): boolean {
  const { least, most } = shownAs(BigInt(typed));
  return atoms >= least && atoms <= most;
}

/** True if price and tip, or the total that the payer paid, are the amount in the query. */
function costs(payment: Payment, { amount, presentment_amount: typed }: SaleQuery): boolean {
  if (amount !== undefined) {
    return isShownAs(payment.amount, amount) || isShownAs(paidFor(payment), amount);
  }
  const price = renderPaidPrice(payment);
  return price !== null && (price.total - price.fees === typed || price.total === typed);
}

/**
 * Finds a sale by its receipt or a refund's receipt: by the printed number or the URL in the QR
 * code.
 */
async function byReceipt(ctx: ApiContext, input: SaleAsked, receipt: string) {
  const { db } = ctx;
  const idKey = ctx.keys.id;
  const { tenant } = input;
  const typed = receipt.trim();
  const number = typed.toUpperCase();
  if (NUMBER.test(number)) return byNumber(ctx, input, number);
  const token = typed.split('/').at(-1) ?? '';
  const settled = findReceipt(idKey, token);
  if (settled?.livemode === tenant.livemode) {
    return selectSettled(db, tenant, { settlementNumber: settled.number });
  }
  const refund = findRefundReceipt(idKey, token);
  if (refund?.livemode !== tenant.livemode) return [];
  return selectSettled(db, tenant, { refundId: refund.id });
}

async function byOrder({ db }: ApiContext, tenant: Tenant, query: SaleQuery): Promise<Payment[]> {
  const page = { limit: OF_ONE_ORDER, after: null, createdGte: null, createdLt: null };
  const filters = { order_id: query.order_id ?? null };
  const rows = await selectPaymentPage(db, { tenant, filters }, page);
  return rows.filter((payment) => costs(payment, query));
}

interface SaleAsked {
  readonly tenant: Tenant;
  readonly terminalId: string;
  readonly query: SaleQuery;
  readonly now: Date;
}

/** Finds a sale of any of the merchant's tills, for a customer who brings a receipt. */
export async function findSale(ctx: ApiContext, input: SaleAsked): Promise<Payment[] | Refusal> {
  const { tenant, terminalId, query, now } = input;
  const wrong = checkQuery(query);
  if (wrong !== null) return wrong;
  const bucket = `find-sale ${terminalId}`;
  const tooMany = await takeAttempt(ctx.db, bucket, { allowance: MISSES, now });
  if (tooMany !== null) return tooMany;
  const { receipt } = query;
  const payments =
    receipt === undefined
      ? await byOrder(ctx, tenant, query)
      : await byReceipt(ctx, input, receipt);
  if (payments.length > 0) await giveBackAttempt(ctx.db, bucket);
  return payments;
}
