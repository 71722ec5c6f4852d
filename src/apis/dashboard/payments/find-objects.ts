import { getAddress } from 'viem';
import {
  type PaymentSearch,
  searchPayments,
  selectIntentIdByOrder,
} from '#apis/dashboard/payments/search-queries.ts';
import { isRefusal } from '#core/answer.ts';
import { isId } from '#core/ids.ts';
import type { Tenant } from '#core/mode.ts';
import type { Page } from '#db/paging.ts';
import { getEvent } from '#events/list-events.ts';
import { selectPayerByAddress } from '#payers/payer-queries.ts';
import type { ApiContext } from '#payments/api-context.ts';
import { selectIntent } from '#payments/intent-queries.ts';
import type { Payment } from '#payments/payment.ts';
import { asOf } from '#payments/payment-intent.ts';
import { selectPayment } from '#payments/payment-queries.ts';
import { renderIntent, renderPayment } from '#payments/render.ts';
import { withdrawalObject } from '#payouts/render.ts';
import { selectWithdrawal } from '#payouts/withdrawal-queries.ts';
import { selectRefund } from '#refunds/refund-queries.ts';
import { renderRefund } from '#refunds/render.ts';
import { terminalObject } from '#terminals/render.ts';
import { selectTerminal } from '#terminals/terminal-queries.ts';

/** Maximum number of payments that are shown for a wallet, transaction or amount: one screen. */
const SHOWN = 20;

const NOTHING: PaymentSearch = {
  txHash: null,
  amount: null,
  payerId: null,
  intentId: null,
  terminalId: null,
};

const FIRST_PAGE: Page = { limit: SHOWN - 1, after: null, createdGte: null, createdLt: null };

async function findSale(
  { db, pages: receipts }: ApiContext,
  input: SearchInput,
): Promise<object | null> {
  const { tenant, text: id, now } = input;
  if (isId('paymentIntent', id)) {
    const intent = await selectIntent(db, tenant, id);
    return intent === null ? null : renderIntent(asOf(intent, now));
  }
  if (isId('payment', id)) {
    const payment = await selectPayment(db, tenant, id);
    return payment === null ? null : renderPayment(payment, receipts);
  }
  return null;
}

/**
 * Returns a search for the payments of the transaction, payer or wallet that the text names; `null`
 * if it names none.
 */
async function paymentsMeant(
  { db }: ApiContext,
  input: SearchInput,
): Promise<PaymentSearch | null> {
  const { text: wanted, tenant } = input;
  if (/^0x[0-9a-f]{64}$/i.test(wanted)) return { ...NOTHING, txHash: wanted.toLowerCase() };
  if (isId('payer', wanted)) return { ...NOTHING, payerId: wanted };
  if (/^0x[0-9a-f]{40}$/i.test(wanted)) {
    const address = getAddress(wanted.toLowerCase());
    const payer = await selectPayerByAddress(db, { livemode: tenant.livemode, address });
    return payer === undefined ? null : { ...NOTHING, payerId: payer.id };
  }
  return null;
}

async function intentOfOrder({ db }: ApiContext, { tenant, text }: SearchInput) {
  if (!/^[A-Za-z0-9_-]{1,8}$/.test(text)) return null;
  const id = await selectIntentIdByOrder(db, tenant, text);
  return id === null ? null : selectIntent(db, tenant, id);
}

export async function find(ctx: ApiContext, input: SearchInput): Promise<object[]> {
  const { db, pages: receipts } = ctx;
  const { tenant, now } = input;
  const shown = (payment: Payment) => renderPayment(payment, receipts);
  const byId = (await findSale(ctx, input)) ?? (await findOther(ctx, input));
  if (byId !== null) return [byId];
  const search = await paymentsMeant(ctx, input);
  if (search !== null) {
    return (await searchPayments(db, { tenant, search }, FIRST_PAGE)).map(shown);
  }
  const intent = await intentOfOrder(ctx, input);
  const { amount } = input;
  if (intent === null && amount === null) return [];
  const either = { ...NOTHING, intentId: intent?.id ?? null, amount };
  const payments = await searchPayments(db, { tenant, search: either }, FIRST_PAGE);
  const order = intent === null ? [] : [renderIntent(asOf(intent, now))];
  return [...order, ...payments.map(shown)];
}

interface SearchInput {
  readonly tenant: Tenant;
  readonly text: string;
  /** The amount that the text contains, in atoms; `null` if it contains none. */
  readonly amount: bigint | null;
  readonly now: Date;
}

async function findOther(
  { db, pages: receipts }: ApiContext,
  input: SearchInput,
): Promise<object | null> {
  const { tenant, text: id, now } = input;
  if (isId('refund', id)) {
    const refund = await selectRefund(db, tenant, id);
    return refund === null ? null : renderRefund(refund, receipts);
  }
  if (isId('terminal', id)) {
    const row = await selectTerminal(db, tenant, id);
    return row === null ? null : terminalObject(row);
  }
  if (isId('withdrawal', id)) {
    const row = await selectWithdrawal(db, tenant, id);
    return row === undefined ? null : withdrawalObject(row);
  }
  if (isId('event', id)) {
    const event = await getEvent(db, tenant, { id, now });
    return isRefusal(event) ? null : (JSON.parse(event.body) as object);
  }
  return null;
}
