import { getAddress } from 'viem';
import { type Asked, findOther } from '#apis/dashboard/find-by-id.ts';
import type { DashboardDeps } from '#apis/dashboard/person-route.ts';
import {
  type PaymentSearch,
  searchPayments,
  selectIntentIdByOrder,
} from '#apis/dashboard/search-queries.ts';
import { isId } from '#core/ids.ts';
import type { Page } from '#db/paging.ts';
import { selectPayerByAddress } from '#payers/payer-queries.ts';
import { selectIntent } from '#payments/intent-queries.ts';
import { asOf } from '#payments/payment-intent.ts';
import { selectPayment } from '#payments/payment-queries.ts';
import { renderIntent, renderPayment } from '#payments/render.ts';

/** What one screen shows of payments that share a wallet, a transaction or an amount. */
const SHOWN = 20;

const NOTHING: PaymentSearch = {
  txHash: null,
  amount: null,
  payerId: null,
  intentId: null,
  terminalId: null,
};

const FIRST_PAGE: Page = { limit: SHOWN - 1, after: null, createdGte: null, createdLt: null };

/** The intent or payment that an id names, as the API shows it. */
async function findSale({ db }: DashboardDeps, asked: Asked): Promise<object | null> {
  const { tenant, text: id, now } = asked;
  if (isId('paymentIntent', id)) {
    const intent = await selectIntent(db, tenant, id);
    return intent === null ? null : renderIntent(asOf(intent, now));
  }
  if (isId('payment', id)) {
    const payment = await selectPayment(db, tenant, id);
    return payment === null ? null : renderPayment(payment);
  }
  return null;
}

/** Which payments a text may mean: a transaction, a wallet, an amount; null for none of these. */
async function paymentsMeant({ db }: DashboardDeps, asked: Asked): Promise<PaymentSearch | null> {
  const { text: wanted, tenant } = asked;
  if (/^0x[0-9a-f]{64}$/i.test(wanted)) return { ...NOTHING, txHash: wanted.toLowerCase() };
  if (isId('payer', wanted)) return { ...NOTHING, payerId: wanted };
  if (/^0x[0-9a-f]{40}$/i.test(wanted)) {
    const address = getAddress(wanted.toLowerCase());
    const payer = await selectPayerByAddress(db, { livemode: tenant.livemode, address });
    return payer === undefined ? null : { ...NOTHING, payerId: payer.id };
  }
  const [, whole, fraction = ''] = /^(\d{1,7})[.,](\d{1,6})$/.exec(wanted) ?? [];
  if (whole === undefined) return null;
  return { ...NOTHING, amount: Number(whole + fraction.padEnd(6, '0')) };
}

export async function find(deps: DashboardDeps, asked: Asked): Promise<object[]> {
  const { db } = deps;
  const { tenant, now } = asked;
  const byId = (await findSale(deps, asked)) ?? (await findOther(deps, asked));
  if (byId !== null) return [byId];
  const search = await paymentsMeant(deps, asked);
  if (search !== null) {
    return (await searchPayments(db, { tenant, search }, FIRST_PAGE)).map(renderPayment);
  }
  if (!/^[A-Za-z0-9_-]{1,8}$/.test(asked.text)) return [];
  const intentId = await selectIntentIdByOrder(db, tenant, asked.text);
  const intent = intentId === null ? null : await selectIntent(db, tenant, intentId);
  if (intent === null) return [];
  const ofIntent = { ...NOTHING, intentId: intent.id };
  const payments = await searchPayments(db, { tenant, search: ofIntent }, FIRST_PAGE);
  return [renderIntent(asOf(intent, now)), ...payments.map(renderPayment)];
}
