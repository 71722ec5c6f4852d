import { pause } from '../abortable-pause.ts';
import {
  type DeviceApi,
  DeviceApiError,
  type DevicePayment,
  type DeviceRefund,
  type Intent,
  usdc,
} from '../device-api.ts';
import { receiptThatFits } from '../printing/printer.ts';
import { mayComeAgain } from '../reader-without-screen.ts';
import { within } from '../time-limit.ts';
import { fitsCharset } from './charset.ts';
import type { Observation } from './conversation-state.ts';
import {
  paymentsFrom,
  readTotals,
  shortNumber,
  TooManyPaymentsError,
} from './end-of-day-totals.ts';
import { centsOf, codeOf, type Money, numberOf, priceOf, USD } from './price-of-amount.ts';
import type { Paper } from './read-command.ts';
import {
  type Closed,
  type Paid,
  RESULT,
  type Refund,
  type RefundNews,
  type RefundRequest,
  type Returned,
  SAME_SALE_MS,
  type Sale,
  type SaleNews,
} from './stored-results.ts';

/**
 * Sends a conversation's requests to the network with the reader's client, and follows them until
 * their results are known. Reports results as observations, and decides nothing about money.
 */
export interface Network {
  readonly api: DeviceApi;
  readonly signal: AbortSignal;
  readonly report: (observation: Observation) => void;
}

const OPEN = 'requires_payment_method';
/** Statuses in which the network accepts a cancellation. */
const CANCELABLE = [OPEN, 'requires_action'];
/** Pause before a request is sent again, with the same key. */
const AGAIN_MS = 1_000;
/** Longer than the server holds a long poll (25 s). */
const CHANGED_MS = 30_000;
/** Time limit for a receipt. Short, because the register waits for it. */
const RECEIPT_MS = 3_000;
/** Time limit of a request that checks whether the network answers. */
const LINE_MS = 5_000;
/** A refund that is pending for longer than this is read less often. */
const SLOW_AFTER_MS = 300_000;
const SLOW_MS = 30_000;
/**
 * Age up to which a stored key may be sent again. Shorter than the 48 h for which the network keeps
 * the response.
 */
const KEY_MS = 47 * 3_600_000;
/** Receipt numbers of registers have four digits. */
const RECEIPT_NUMBERS = 10_000;

export class Sales {
  readonly #network: Network;
  /** Keys of sales that must no longer be paid. */
  readonly #canceled = new Set<string>();
  /** Aborting it ends the wait for a change of the current sale. */
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
        const isFirst = intent === null;
        intent = await (intent === null ? this.#open(sale, tell) : this.#next(intent, sale.key));
        if (intent === null) return;
        if (isFirst && this.#isOld(sale, intent)) return tell(await this.#newsOfOld(intent));
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

  /** True if the register reuses a number whose intent ended before this sale. */
  #isOld({ key, number, status, asked_at }: Sale, intent: Intent): boolean {
    if (status !== 'asked' || number === null) return false;
    const isEarlier = Date.parse(intent.created) < asked_at - SAME_SALE_MS;
    if (intent.status === 'succeeded') return isEarlier;
    return intent.status === 'canceled' && !this.#canceled.has(key);
  }

  async #newsOfOld(intent: Intent): Promise<SaleNews> {
    if (intent.status === 'canceled') return { status: 'canceled_before' };
    return { status: 'paid_before', paid: await this.#paidBy(intent) };
  }

  /** Creates or reads the intent of a sale. @returns `null` if the network refuses to create it. */
  async #open(sale: Sale, tell: (news: SaleNews) => void): Promise<Intent | null> {
    const { api, signal } = this.#network;
    if (sale.status === 'open') return api.intent(sale.intent, signal);
    const price = priceOf(sale) ?? {};
    try {
      const intent = await api.createIntent(price, sale.key, signal);
      // The replayed response of an earlier request may be outdated, so the intent is read again.
      const now = await api.intent(intent.id, signal);
      if (!this.#isOld(sale, now)) tell({ status: 'open', intent: intent.id });
      return now;
    } catch (error) {
      const code = refusalOf(error);
      if (code === null) throw error;
      tell({ status: 'not_paid', code });
      return null;
    }
  }

  /**
   * Waits until the intent changes. If the sale must no longer be paid, first cancels the intent.
   */
  async #next(intent: Intent, key: string): Promise<Intent> {
    const { api, signal } = this.#network;
    // The sale is paid, but reading its payment failed, so the caller tries again.
    if (intent.status === 'succeeded') return intent;
    if (this.#canceled.has(key) && CANCELABLE.includes(intent.status)) {
      return api.cancel(intent.id, signal).catch(async (error: unknown) => {
        if (!(error instanceof DeviceApiError) || mayComeAgain(error)) throw error;
        // The sale is being paid or was just paid.
        await pause(AGAIN_MS, signal);
        return api.intent(intent.id, signal);
      });
    }
    this.#hurry = new AbortController();
    if (this.#canceled.has(key)) {
      // The sale cannot be canceled while a payment is in progress.
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
    for await (const payment of paymentsFrom(this.#network)) {
      if (payment.payment_intent === id) return paidOf(payment);
    }
    throw new DeviceApiError(503, 'not_listed', `the payment of ${id} is not listed yet`);
  }

  /**
   * Follows a reversal or refund to its result or its next step. That step must be stored before it
   * is followed further.
   */
  async refund(refund: Refund): Promise<void> {
    const { signal, report } = this.#network;
    const tell = (news: RefundNews) => report({ type: 'refund', key: refund.key, news });
    while (!signal.aborted) {
      try {
        const news = await this.#refundOnce(refund);
        tell(news);
        if (news.status !== 'processing') return;
      } catch (error) {
        if (signal.aborted) return;
        tell({ status: 'unreachable' });
        if (!isExpected(error)) throw error;
      }
      await pause(refundPause(refund), signal);
    }
  }

  #refundOnce(refund: Refund): Promise<RefundNews> {
    if (refund.status === 'requested') return this.#request(refund.key, refund.request);
    if (refund.status === 'accepted') return this.#follow(refund.made, refund.request);
    return this.#prepare(refund);
  }

  /** Looks up the sale of a refund, and how much of it was refunded before. */
  async #prepare({ of, money }: Refund): Promise<RefundNews> {
    const payment = await this.#paymentOf(of);
    if (payment === null) return { status: 'refused', code: RESULT.notPossible };
    if ('receipt' in of && of.price !== null && !hasPrice(payment, of.price)) {
      return { status: 'refused', code: RESULT.notPossible };
    }
    const part = partOf(payment, money);
    if (part === null) return { status: 'refused', code: RESULT.wrongCurrency };
    const request = {
      body: { payment: payment.id, ...part },
      receipt_number: payment.receipt_number,
      paid: payment.amount,
      before: payment.amount_refunded,
      at: Date.now(),
    };
    return { status: 'requested', request };
  }

  /** Requests a stored refund, with the same key until a response arrives. */
  async #request(key: string, request: RefundRequest): Promise<RefundNews> {
    const { api, signal } = this.#network;
    // The network may have forgotten the key and would then refund a second time.
    if (isExpired(request)) return { status: 'refused', code: RESULT.systemError };
    try {
      const made = await api.refund(request.body, key, signal);
      if (made.status === 'failed') return { status: 'refused', code: RESULT.notPossible };
      if (made.status === 'pending') return { status: 'accepted', made };
      return { status: 'done', done: returned(made, request) };
    } catch (error) {
      const code = refusalOf(error);
      if (code === null) throw error;
      return { status: 'refused', code };
    }
  }

  /**
   * Reads the sale, because repeating the request would only return the stored response, which
   * stays pending.
   */
  async #follow(made: DeviceRefund, request: RefundRequest): Promise<RefundNews> {
    const { api, signal } = this.#network;
    const { data } = await api.payments(`receipt=${request.receipt_number}`, signal);
    const back = data[0]?.amount_refunded ?? request.before;
    if (back >= Math.min(request.before + made.amount, request.paid)) {
      return { status: 'done', done: returned(made, request) };
    }
    if (isExpired(request)) return { status: 'refused', code: RESULT.systemError };
    return { status: 'processing' };
  }

  async #paymentOf(target: Refund['of']): Promise<DevicePayment | null> {
    const { api, signal } = this.#network;
    for await (const payment of paymentsFrom(this.#network)) {
      if ('payment' in target && payment.id !== target.payment) continue;
      if ('payment' in target) return payment;
      const [series = '', last = ''] = payment.receipt_number.split('-');
      const back = (Number(last) - target.receipt) % RECEIPT_NUMBERS;
      const number = Number(last) - (back < 0 ? back + RECEIPT_NUMBERS : back);
      if (number < 1) return null;
      const payments = await api.payments(`receipt=${series}-${number}`, signal);
      return payments.data[0] ?? null;
    }
    return null;
  }

  async totals(since: Closed | null, currency: number): Promise<void> {
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

  /** Reads a receipt's lines. If that fails, the sale is still reported. */
  async receipt(url: string, { width, charset }: Paper): Promise<void> {
    const fits = (text: string) => fitsCharset(text, charset);
    const lines = await receiptThatFits(url, { width, ms: RECEIPT_MS, fits }).then(
      (text) => text.trimEnd().split('\n'),
      () => null,
    );
    this.#network.report({ type: 'receipt', lines });
  }
}

/** True if the network did not answer or refused. Any other error is a bug. */
function isExpected(error: unknown): boolean {
  const isRefused = error instanceof DeviceApiError || error instanceof TooManyPaymentsError;
  return isRefused || isDomException(error) || isOfFetch(error);
}

/** For a broken connection, `fetch` throws a TypeError that has a cause. */
function isOfFetch(error: unknown): boolean {
  return error instanceof TypeError && error.cause !== undefined;
}

function isDomException(error: unknown): boolean {
  return error instanceof Error && (error.name === 'AbortError' || error.name === 'TimeoutError');
}

/**
 * Returns the result code for a refused request that did nothing; `null` if it may have done
 * something.
 */
function refusalOf(error: unknown): number | null {
  if (!(error instanceof DeviceApiError)) return null;
  // With this error, no earlier request with this key has created the sale, either.
  if (error.code === 'rates_unavailable') return RESULT.noLine;
  // An expired key does not reveal whether its request was carried out.
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

function paidOf(payment: DevicePayment): Paid {
  return {
    payment: payment.id,
    receipt: shortNumber(payment.receipt_number),
    receipt_url: payment.receipt_url,
    at: payment.settled_at,
    text: `${usdc(payment.amount)} USDC, receipt ${payment.receipt_number}`,
    reversed: payment.amount_refunded >= payment.amount,
  };
}

/** True if the sale's price without the tip was this many minor units of its currency. */
function hasPrice({ presentment, amount, tip }: DevicePayment, price: number): boolean {
  if (presentment !== null) return presentment.amount === price;
  const dollars = priceOf({ amount: price, currency: USD });
  return dollars !== null && 'amount' in dollars && dollars.amount === amount - tip;
}

function isExpired({ at }: RefundRequest): boolean {
  return Date.now() - at > KEY_MS;
}

function refundPause(refund: Refund): number {
  const isSlow = refund.status === 'accepted' && Date.now() - refund.request.at > SLOW_AFTER_MS;
  return isSlow ? SLOW_MS : AGAIN_MS;
}

function returned(made: DeviceRefund, request: RefundRequest): Returned {
  const { presentment } = made;
  const number = presentment === null ? USD : numberOf(presentment.currency);
  const money =
    presentment === null || number === null
      ? { amount: centsOf(made.amount), currency: USD }
      : { amount: presentment.amount, currency: number };
  return {
    money,
    receipt: shortNumber(made.receipt_number ?? request.receipt_number),
    receipt_url: made.receipt_url,
    at: made.updated,
    whole: request.before + made.amount >= request.paid,
  };
}
