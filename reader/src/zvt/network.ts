import {
  type DeviceApi,
  DeviceApiError,
  type DevicePayment,
  type DeviceRefund,
  type Intent,
  usdc,
} from '../device-api.ts';
import { mayComeAgain } from '../headless.ts';
import { pause } from '../pause.ts';
import { receiptText } from '../printing/printer.ts';
import { within } from '../within.ts';
import { centsOf, codeOf, type Money, numberOf, priceOf, USD } from './currencies.ts';
import { paymentsFrom, readTotals, shortNumber } from './report.ts';
import type { Observation } from './state.ts';
import {
  type Paid,
  RESULT,
  type Refund,
  type RefundNews,
  type Returned,
  type Sale,
  type SaleNews,
} from './stored.ts';

/**
 * Carries out a conversation's requests at the network, with the reader's own client, until their
 * results are known. It reports news as observations, and decides nothing about money itself.
 */
export interface Network {
  readonly api: DeviceApi;
  readonly signal: AbortSignal;
  readonly report: (observation: Observation) => void;
}

const OPEN = 'requires_payment_method';
/** Pause before a request is sent again, with the same key. */
const AGAIN_MS = 1_000;
/** Longer than the server holds a long poll (25 s). */
const CHANGED_MS = 30_000;
/** A register waits for a receipt, so it is given up soon. */
const RECEIPT_MS = 3_000;
/** Time limit of a request that shows that the network answers. */
const LINE_MS = 5_000;
/** Receipt numbers of registers have four digits. */
const RECEIPT_NUMBERS = 10_000;

export class Sales {
  readonly #network: Network;
  /** Sales that must no longer be paid, by key. */
  readonly #canceled = new Set<string>();
  /** What had been returned of a sale before a refund, by the key of the refund. */
  readonly #returnedBefore = new Map<string, number>();
  /** Ends the wait for news of the sale that runs. */
  #hurry = new AbortController();

  constructor(network: Network) {
    this.#network = network;
  }

  cancel(key: string): void {
    this.#canceled.add(key);
    this.#hurry.abort();
  }

  /** Follows a sale until its result is known. */
  async sell(sale: Sale): Promise<void> {
    const { signal, report } = this.#network;
    const tell = (news: SaleNews) => report({ type: 'sale', key: sale.key, news });
    let intent: Intent | null = null;
    while (!signal.aborted) {
      try {
        if (intent === null) intent = await this.#open(sale, tell);
        else intent = await this.#next(intent, sale.key);
        if (intent === null) return;
        const news = await this.#newsOf(intent);
        tell(news);
        if (news.status === 'paid' || news.status === 'not_paid') {
          this.#canceled.delete(sale.key);
          return;
        }
      } catch (error) {
        if (signal.aborted) return;
        tell({ status: 'unreachable' });
        await pause(AGAIN_MS, signal);
        if (!isExpected(error)) throw error;
      }
    }
  }

  /** Creates or reads the intent of a sale. @returns `null` if the network refuses to create it. */
  async #open(sale: Sale, tell: (news: SaleNews) => void): Promise<Intent | null> {
    const { api, signal } = this.#network;
    if (sale.status === 'open') return api.intent(sale.intent, signal);
    const price = priceOf(sale) ?? {};
    try {
      const intent = await api.createIntent(price, sale.key, signal);
      tell({ status: 'open', intent: intent.id });
      // A replayed response is as old as the key, so the sale may have gone on since.
      return await api.intent(intent.id, signal);
    } catch (error) {
      const code = refusalOf(error);
      if (code === null) throw error;
      tell({ status: 'not_paid', code });
      return null;
    }
  }

  /** Waits until the sale differs from what is known, and cancels it first if that is wanted. */
  async #next(intent: Intent, key: string): Promise<Intent> {
    const { api, signal } = this.#network;
    if (this.#canceled.has(key) && intent.status === OPEN) {
      return api.cancel(intent.id, signal).catch((error: unknown) => {
        if (!(error instanceof DeviceApiError) || mayComeAgain(error)) throw error;
        // It was paid, or is being paid, at this moment.
        return api.intent(intent.id, signal);
      });
    }
    this.#hurry = new AbortController();
    if (this.#canceled.has(key)) {
      // It cannot be canceled while a payment is on its way or its customer is asked.
      await pause(AGAIN_MS, signal);
      return api.intent(intent.id, signal);
    }
    const { signal: hurry } = this.#hurry;
    return within({ ms: CHANGED_MS, until: [signal, hurry] }, (end) =>
      api.changed(intent.id, intent.status, end),
    ).catch((error: unknown) => {
      if (hurry.aborted && !signal.aborted) return intent;
      throw error;
    });
  }

  async #newsOf(intent: Intent): Promise<SaleNews> {
    switch (intent.status) {
      case OPEN:
        return { status: 'waiting' };
      case 'canceled':
        return { status: 'not_paid', code: RESULT.aborted };
      case 'succeeded':
        return { status: 'paid', paid: await this.#paidBy(intent) };
      default:
        return { status: 'processing' };
    }
  }

  async #paidBy({ id }: Intent): Promise<Paid> {
    const { api, signal } = this.#network;
    const { data } = await api.payments('limit=20', signal);
    const payment = data.find(({ payment_intent }) => payment_intent === id);
    if (payment === undefined) throw new TypeError(`the payment of ${id} is not listed yet`);
    return {
      payment: payment.id,
      receipt: shortNumber(payment.receipt_number),
      receipt_url: payment.receipt_url,
      at: payment.settled_at,
      text: `${usdc(payment.amount + payment.tip)} USDC, receipt ${payment.receipt_number}`,
    };
  }

  /** Follows a reversal or refund until its result is known. */
  async refund(refund: Refund): Promise<void> {
    const { signal, report } = this.#network;
    const tell = (news: RefundNews) => report({ type: 'refund', key: refund.key, news });
    while (!signal.aborted) {
      try {
        const news = await this.#refundOnce(refund);
        tell(news);
        if (news.status === 'done' || news.status === 'refused') return;
      } catch (error) {
        if (signal.aborted) return;
        tell({ status: 'unreachable' });
        if (!isExpected(error)) throw error;
      }
      await pause(AGAIN_MS, signal);
    }
  }

  async #refundOnce(refund: Refund): Promise<RefundNews> {
    const { api, signal } = this.#network;
    const payment = await this.#paymentOf(refund);
    if (payment === null) return { status: 'refused', code: RESULT.notPossible };
    const part = partOf(payment, refund.money);
    if (part === null) return { status: 'refused', code: RESULT.wrongCurrency };
    try {
      const body = { payment: payment.id, ...part };
      const made = await api.refund(body, refund.key, signal);
      if (made.status === 'failed') return { status: 'refused', code: RESULT.notPossible };
      // A stored response stays pending, so the payment itself says when the money has gone back.
      const before = this.#returnedBefore.get(refund.key) ?? payment.amount_refunded;
      this.#returnedBefore.set(refund.key, before);
      const isBack = payment.amount_refunded >= before + made.amount || isWhole(payment);
      if (made.status === 'pending' && !isBack) return { status: 'processing' };
      return { status: 'done', done: returned(made, payment) };
    } catch (error) {
      const code = refusalOf(error);
      if (code === null) throw error;
      return { status: 'refused', code };
    }
  }

  async #paymentOf({ of }: Refund): Promise<DevicePayment | null> {
    const { api, signal } = this.#network;
    for await (const payment of paymentsFrom(this.#network)) {
      if ('payment' in of && payment.id !== of.payment) continue;
      if ('payment' in of) return payment;
      const [series = '', last = ''] = payment.receipt_number.split('-');
      const back = (Number(last) - of.receipt) % RECEIPT_NUMBERS;
      const number = Number(last) - (back < 0 ? back + RECEIPT_NUMBERS : back);
      if (number < 1) return null;
      const found = await api.payments(`receipt=${series}-${number}`, signal);
      return found.data[0] ?? null;
    }
    return null;
  }

  /** Reads the sales since the last end of day. */
  async totals(since: string | null, currency: number): Promise<void> {
    const { report } = this.#network;
    const totals = await readTotals(this.#network, { since, currency }).catch((error: unknown) => {
      if (isExpected(error)) return null;
      throw error;
    });
    report({ type: 'totals', totals });
  }

  async line(): Promise<void> {
    const { api, signal, report } = this.#network;
    const isReached = await within({ ms: LINE_MS, until: [signal] }, (end) =>
      api.terminal(end),
    ).then(
      () => true,
      () => false,
    );
    report({ type: 'line', isReached });
  }

  /** Reads the lines of a receipt. The sale is reported even if that fails. */
  async receipt(url: string, width: 32 | 48): Promise<void> {
    const lines = await receiptText(url, { width, ms: RECEIPT_MS }).then(
      (text) => text.trimEnd().split('\n'),
      () => null,
    );
    this.#network.report({ type: 'receipt', lines });
  }
}

/** True for an answer that is missing or refused; anything else is a bug. */
function isExpected(error: unknown): boolean {
  return error instanceof DeviceApiError || error instanceof TypeError || isDomException(error);
}

function isDomException(error: unknown): boolean {
  return error instanceof Error && (error.name === 'AbortError' || error.name === 'TimeoutError');
}

/** Returns the code for a refused request that did nothing, or `null` if that is unknown. */
function refusalOf(error: unknown): number | null {
  if (!(error instanceof DeviceApiError)) return null;
  // The response says that no earlier request with this key has created the sale either.
  if (error.code === 'rates_unavailable') return RESULT.noLine;
  // An expired key does not show whether its request was carried out.
  if (mayComeAgain(error) || error.status === 401) return null;
  if (error.code === 'idempotency_key_reused') return RESULT.protocolError;
  return error.param === 'presentment.currency' ? RESULT.wrongCurrency : RESULT.notPossible;
}

function partOf(payment: DevicePayment, money: Money | null): object | null {
  if (money === null) return {};
  const isOwn = money.currency === 0;
  if (payment.presentment !== null) {
    const isSame = isOwn || codeOf(money.currency) === payment.presentment.currency;
    return isSame ? { presentment_amount: money.amount } : null;
  }
  return isOwn || money.currency === USD ? priceOf({ ...money, currency: USD }) : null;
}

function isWhole({ amount, tip, amount_refunded: back }: DevicePayment): boolean {
  return back === amount + tip;
}

function returned(made: DeviceRefund, payment: DevicePayment): Returned {
  const { presentment } = made;
  const number = presentment === null ? USD : numberOf(presentment.currency);
  const money =
    presentment === null || number === null
      ? { amount: centsOf(made.amount), currency: USD }
      : { amount: presentment.amount, currency: number };
  return {
    money,
    receipt: shortNumber(made.receipt_number ?? payment.receipt_number),
    receipt_url: made.receipt_url,
    at: made.updated,
  };
}
