import { hasDiscount, type SaleLines, salePrice } from '#prices/sale-lines.ts';
import { type Hex, toHex } from '../../data/bytes.ts';
import type { Device } from '../../data/device-api.ts';
import { batchesOf, type ForwardApi } from '../../data/forward-offline-payments.ts';
import {
  type OfflineAnswer,
  type OfflinePrice,
  type OfflineRequest,
  offlineNonce,
} from '../../data/offline-request.ts';
import { refusalText } from '../../data/refusal-text.ts';
import { discountFields } from '../../data/sale-line-fields.ts';
import { withTexts } from '../../ui/text/t.ts';
import { StorageUnavailable } from '../sealed-storage.ts';
import type { Asking, Create, Slip } from '../till-phases.ts';
import type { TillView } from '../till-runner.ts';
import { keepSoldOffline, keptSettings } from '../till-storage.ts';
import { endReplaced, type PaymentApi } from './end-replaced.ts';
import {
  afterAnswer,
  type HeldSale,
  inState,
  isOver,
  recordOf,
  refusedRecord,
  slipOf,
  toForward,
  toReplaced,
} from './held-sales.ts';
import {
  addSale,
  changeSales,
  keepTerms,
  readSales,
  readTerms,
  removeSales,
} from './sale-store.ts';
import {
  type AskedSale,
  cardProblem,
  chargedFor,
  mostNext,
  type NotAccepted,
  type OfflineLimits,
  type OfflineProblem,
  type OfflineTerms,
  requestProblem,
  type Standing,
  saleIn,
  saleProblem,
  serviceTime,
  type TillSale,
  tillProblem,
  validBeforeOf,
} from './till-offline-limits.ts';

interface KeptTerms {
  /**
   * The signed-in person if they may give discounts; `null` for a till that may, with nobody signed
   * in. Absent if discounts need a manager, and in terms stored by an earlier version.
   */
  readonly discounter?: string | null | undefined;
  /** The shop's currency; `null` for USDC. Absent in terms stored by an earlier version. */
  readonly currency?: string | null;
  readonly terminal: string;
  readonly merchantName: string;
  readonly limits: OfflineLimits | null;
  readonly terms: OfflineTerms | null;
  /** Milliseconds by the service's clock. */
  readonly contactAt: number;
  readonly offsetMs: number;
}

export interface OfflineView {
  /** True if the merchant lets this till sell offline, as far as the till knows. */
  readonly isOn: boolean;
  readonly sales: readonly HeldSale[];
  /** The service's message if it accepts no sales from this till; otherwise `null`. */
  readonly refusal: string | null;
  /** False while the browser's storage does not answer; the till then cannot sell offline. */
  readonly hasStorage: boolean;
  /**
   * What the till can sell without a connection, or the reason why it cannot, in words; `null`
   * while it is unknown.
   */
  readonly outlook: string | null;
}

/** The lock that allows only one window at a time to forward. */
const LOCK = 'tapline.terminal.offline_sales';
/** Pauses between rounds of forwarding: short at first, because a chain settles within seconds. */
const AGAIN_MS = [500, 1_000, 2_000, 3_000, 5_000, 10_000, 30_000] as const;
/** Interval at which a storage that does not answer is tried again. */
const STORAGE_AGAIN_MS = 2_000;
/** Interval at which the till checks again what it could sell. */
const LOOK_AGAIN_MS = 30_000;
/** Minimum interval between writes of the time of the last contact. */
const CONTACT_EVERY_MS = 30_000;
/**
 * Minimum free space in bytes for an offline sale. The sale needs about 1,000 of them, and the
 * browser may need the rest.
 */
const LEAST_ROOM = 1_000_000;
const SALT_BYTES = 32;

/** Loads the code for offline sales while there is a connection. */
function loadSigning(): void {
  import('../../data/offline-signature.ts').catch(() => {});
  withTexts(() => import('../reader/sign-by-chip.ts')).catch(() => {});
}

async function isPersistent(): Promise<boolean> {
  return (await navigator.storage?.persisted?.().catch(() => false)) ?? false;
}

/** True, too, if the browser cannot say, as Safari 16: a full storage then refuses the sale. */
async function hasRoom(): Promise<boolean> {
  const estimate = await navigator.storage.estimate?.();
  const { quota = Number.POSITIVE_INFINITY, usage = 0 } = estimate ?? {};
  return quota - usage > LEAST_ROOM;
}

/** Returns the id of the person who is signed in at the till; `null` if there is none. */
function signedIn(): string | null {
  return keptSettings().person?.id ?? null;
}

/** A sale for the customer to sign. */
type PreparedSale = Pick<Asking, 'request' | 'lines' | 'price'> & Pick<TillSale, 'presentment'>;

function linesOf(lines: SaleLines) {
  return { lineItems: lines.lineItems, ...discountFields(lines) };
}

/** False for the lines of a cart in the shop's currency that is sold in USDC after all. */
function isOf(lines: SaleLines, { request, presentment = null }: Asking): boolean {
  return salePrice(lines) === (presentment === null ? request.amount : BigInt(presentment.amount));
}

function priceOf({ currency, amount, rate }: NonNullable<TillSale['presentment']>): OfflinePrice {
  return { currency, amount, rate };
}

interface OfflineTillDeps {
  readonly terminal: string;
  readonly forward: ForwardApi;
  readonly payments: PaymentApi;
}

/**
 * Sells offline: requests payments within the limits, stores the signed ones, and forwards them.
 */
export class OfflineTill {
  readonly #terminal: string;
  readonly #forward: ForwardApi;
  readonly #payments: PaymentApi;
  readonly #listeners = new Set<() => void>();
  #view: OfflineView = {
    isOn: false,
    sales: [],
    refusal: null,
    hasStorage: true,
    outlook: null,
  };
  #kept: KeptTerms | null = null;
  #last: Pick<KeptTerms, 'contactAt' | 'offsetMs'> | null = null;
  #keptAt = Number.NEGATIVE_INFINITY;
  /** Time of the last contact, or of this page's start, by the monotonic clock. */
  #heardAt = performance.now();
  /** True if the browser has promised to keep stored data. */
  #isGranted = false;
  #reads = 0;
  /** True once the stored terms were read. */
  #hasLoaded = false;
  #wake = new AbortController();
  #isReached = false;
  /** Answers and cancellations are handled one at a time. */
  #turn: Promise<unknown> = Promise.resolve();
  /** Nonces of requests that the cashier canceled. */
  readonly #givenUp = new Set<Hex>();

  constructor({ terminal, forward, payments }: OfflineTillDeps) {
    this.#terminal = terminal;
    this.#forward = forward;
    this.#payments = payments;
  }

  readonly view = (): OfflineView => this.#view;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  #show(part: Partial<OfflineView>): void {
    this.#view = { ...this.#view, ...part };
    for (const listener of this.#listeners) listener();
  }

  /**
   * Reads this browser's stored sales and terms. Sales of an earlier pairing are forwarded under
   * the current pairing. While the storage does not answer, it is read again later.
   */
  async load(): Promise<void> {
    await this.#refresh().catch(() => {});
    await this.#loadTerms();
  }

  /** Shows that the storage does not answer, and lets the loop try it again. */
  #loseStorage(): void {
    if (!this.#view.hasStorage) return;
    this.#show({ hasStorage: false });
    this.#wake.abort();
  }

  async #loadTerms(): Promise<void> {
    if (!this.#view.hasStorage || this.#hasLoaded) return;
    const kept = await readTerms<KeptTerms>().catch(() => undefined);
    if (kept === undefined) return this.#loseStorage();
    this.#hasLoaded = true;
    // Stored terms of another terminal do not apply to this one.
    if (kept?.terminal === this.#terminal && this.#kept === null) await this.#take(kept);
  }

  async #take(kept: KeptTerms): Promise<void> {
    this.#kept = kept;
    this.#show({ isOn: kept.limits !== null });
    if (kept.limits === null) return;
    keepSoldOffline();
    loadSigning();
    this.#isGranted ||= await this.#askToLast();
  }

  /** Asks the browser for persistent storage. */
  async #askToLast(): Promise<boolean> {
    if (await isPersistent()) return true;
    return (await navigator.storage?.persist?.().catch(() => false)) ?? false;
  }

  /** Reads the stored sales and shows them, unless a newer read has begun. */
  async #refresh(): Promise<readonly HeldSale[]> {
    this.#reads += 1;
    const own = this.#reads;
    try {
      const sales = await readSales();
      this.#show(own === this.#reads ? { sales, hasStorage: true } : { hasStorage: true });
      return sales;
    } catch (error) {
      this.#loseStorage();
      throw error;
    }
  }

  /** Stores the terms that the service returns for this terminal. */
  async learn(device: Device): Promise<void> {
    if (device.id !== this.#terminal) return;
    const { offline: limits, merchant_name: merchantName, currency } = device;
    // While the chain does not respond, the previous terms stay in effect.
    const terms = limits === null ? null : this.#termsAfter(device.offline_terms);
    const terminal = this.#terminal;
    const last = this.#last ?? this.#kept ?? { contactAt: 0, offsetMs: 0 };
    const { contactAt, offsetMs } = last;
    await this.#take({
      terminal,
      merchantName,
      currency,
      discounter: device.may_discount ? (device.shift?.cashier ?? null) : undefined,
      limits,
      terms,
      contactAt,
      offsetMs,
    });
    await this.#keep();
    await this.#look();
  }

  /** Terms without a rate do not end an earlier rate that still holds. */
  #termsAfter(learned: OfflineTerms | null): OfflineTerms | null {
    const earlier = this.#kept?.terms ?? null;
    if (learned === null) return earlier;
    return { ...learned, presentment: learned.presentment ?? earlier?.presentment ?? null };
  }

  /** Shows what the till could sell without a connection. */
  async #look(): Promise<void> {
    const standing = await this.#standing();
    if (standing === null) return this.#show({ outlook: null });
    const { outlookWords } = await withTexts(() => import('./bounce-words.ts'));
    this.#show({ outlook: outlookWords(mostNext(this.#kept?.currency ?? null, standing)) });
  }

  /**
   * Records the state of the connection, and the device's time of the service's last successful
   * response.
   */
  contact(view: Pick<TillView, 'reached' | 'contactAt' | 'clockOffsetMs'>): void {
    const { reached: isReached, clockOffsetMs: offsetMs } = view;
    if (isReached && !this.#isReached) this.#wake.abort();
    if (isReached !== this.#isReached) void this.#look();
    this.#isReached = isReached;
    if (!isReached || view.contactAt === null) return;
    const contactAt = view.contactAt + offsetMs;
    if (contactAt !== this.#last?.contactAt) this.#heardAt = performance.now();
    this.#last = { contactAt, offsetMs };
    if (this.#kept === null) return;
    this.#kept = { ...this.#kept, ...this.#last };
    if (performance.now() - this.#keptAt > CONTACT_EVERY_MS) void this.#keep();
  }

  async #keep(): Promise<void> {
    this.#keptAt = performance.now();
    // If the disk is full, the previous terms remain, which expire sooner.
    if (this.#kept !== null) await keepTerms(this.#kept).catch(() => {});
  }

  /** Estimates the service's time from its last response and the time that has passed since. */
  #now({ contactAt, offsetMs }: KeptTerms): number {
    const last = this.#view.sales.at(-1);
    // The device's clock may have been set back since the last contact.
    const since = contactAt + performance.now() - this.#heardAt;
    const least = Math.max(since, last === undefined ? 0 : Date.parse(last.acceptedAt));
    return serviceTime({ offsetMs, least }, Date.now());
  }

  async #standing(): Promise<Standing | null> {
    const kept = this.#kept;
    if (kept === null || kept.limits === null) return null;
    const { limits, terms, contactAt } = kept;
    const isSafe = (this.#isGranted || (await isPersistent())) && (await hasRoom());
    const { sales } = this.#view;
    return { limits, terms, contactAt, now: this.#now(kept), sales, isSafe };
  }

  /**
   * Prepares a sale without sending anything.
   * @returns why it cannot be requested, or `null` if this till does not sell offline.
   */
  async prepare(
    create: Pick<Create, 'amount' | 'currency' | 'lines'>,
  ): Promise<PreparedSale | OfflineProblem | null> {
    // The merchant does not let this till sell offline.
    if (this.#kept !== null && this.#kept.limits === null) return null;
    // Fails before the customer signs. Another window may have stored some sales, too.
    await this.load();
    if (!this.#view.hasStorage) return { is: 'no_storage' };
    const standing = await this.#standing();
    if (standing === null || this.#kept === null) return null;
    const { lines } = create;
    const isDiscounted = lines !== null && hasDiscount(lines);
    // A manager cannot be checked offline.
    if (isDiscounted && this.#kept.discounter !== signedIn()) return { is: 'discount' };
    const sale = saleIn(create, standing);
    if (sale === null) return tillProblem(create.currency, standing);
    const { amount, presentment } = sale;
    const problem = saleProblem(sale, standing);
    const validBefore = validBeforeOf(standing);
    const { terms } = standing;
    if (problem !== null || terms === null || validBefore === null) return problem;
    const request: OfflineRequest = {
      chainId: terms.chain_id,
      usdc: terms.usdc as OfflineRequest['usdc'],
      usdcName: terms.usdc_name,
      usdcVersion: terms.usdc_version,
      settlement: terms.settlement as OfflineRequest['settlement'],
      merchantNumber: terms.merchant_number,
      merchantName: this.#kept.merchantName,
      amount,
      value: chargedFor(amount, terms),
      validBefore,
      salt: toHex(crypto.getRandomValues(new Uint8Array(SALT_BYTES))),
      ...(presentment === null ? {} : { price: priceOf(presentment) }),
    };
    const { currency } = create;
    const price = currency === null ? null : { currency, amount: Number(create.amount) };
    return { request, lines, presentment, price };
  }

  /**
   * Returns the reason why a card with this address may not pay this sale; `null` if it may sign.
   */
  async refuses(asked: AskedSale, from: OfflineAnswer['from']) {
    const standing = await this.#standing();
    // Offline sales were switched off while the request was on the screen.
    if (standing === null) return { is: 'outdated' } as const;
    const { request, presentment = null } = asked;
    const card = { from, amount: request.amount, presentment };
    return requestProblem(asked, standing) ?? cardProblem(card, standing);
  }

  /** Returns the slip of a sale that was stored right before the page was closed. */
  slipOf(request: OfflineRequest): Slip | null {
    const nonce = offlineNonce(request);
    const held = this.#view.sales.find((sale) => sale.nonce === nonce);
    return held === undefined ? null : slipOf(held);
  }

  #inTurn<T>(run: () => Promise<T>): Promise<T> {
    const done = this.#turn.then(run);
    this.#turn = done.catch(() => {});
    return done;
  }

  /**
   * Cancels a request, so that the till accepts no later answer to it.
   * @returns the slip if an answer was already accepted: the sale is then made.
   * @throws DOMException if the storage cannot be read: the till then cannot know, and nothing
   * changes.
   */
  giveUp(request: OfflineRequest): Promise<Slip | null> {
    return this.#inTurn(async () => {
      await this.#refresh();
      const slip = this.slipOf(request);
      if (slip === null) this.#givenUp.add(offlineNonce(request));
      return slip;
    });
  }

  /**
   * Verifies an answer and stores the sale encrypted. The sale counts as accepted only after that.
   */
  async accept(input: Asking, text: string): Promise<Slip | NotAccepted> {
    const { request } = input;
    const { verifyAnswer } = await import('../../data/offline-signature.ts');
    const answer = await verifyAnswer(request, text);
    if (typeof answer === 'string') return answer;
    return this.#inTurn(() => this.#store(input, answer));
  }

  async #store(input: Asking, answer: OfflineAnswer): Promise<Slip | NotAccepted> {
    const { request, lines, replaces = null, presentment = null } = input;
    const known = this.slipOf(request);
    if (known !== null) return known;
    if (this.#givenUp.has(offlineNonce(request))) return { is: 'outdated' };
    const problem = await this.refuses(input, answer.from);
    if (problem !== null) return problem;
    const sale: HeldSale = {
      nonce: offlineNonce(request),
      from: answer.from,
      amount: Number(request.amount),
      value: Number(request.value),
      validBefore: request.validBefore,
      salt: request.salt,
      signature: answer.signature,
      acceptedAt: new Date(this.#kept === null ? Date.now() : this.#now(this.#kept)).toISOString(),
      ...(lines === null || !isOf(lines, input) ? { lineItems: null } : linesOf(lines)),
      cashier: signedIn(),
      presentment,
      replaces: replaces === null ? null : toReplaced(replaces),
      state: { is: 'waits' },
    };
    try {
      await addSale(sale);
    } catch (error) {
      if (error instanceof StorageUnavailable) {
        this.#loseStorage();
        return { is: 'no_storage' };
      }
      // Another window may have stored the sale already.
      await this.#refresh().catch(() => {});
      return this.slipOf(request) ?? 'full';
    }
    // The sale is on the disk, so it is accepted even if reading it back fails.
    await this.#refresh().catch(() => this.#show({ sales: [...this.#view.sales, sale] }));
    this.#wake.abort();
    void this.#look();
    return slipOf(sale);
  }

  async see(): Promise<void> {
    const seen = this.#view.sales.flatMap((sale) =>
      sale.state.is === 'bounced' && !sale.state.isSeen
        ? [{ ...sale, state: { ...sale.state, isSeen: true } }]
        : [],
    );
    if (seen.length === 0) return;
    await changeSales(seen).catch(() => {});
    await this.#refresh();
  }

  /** Forwards waiting sales whenever there is a connection, until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    // Hours and terms end while the till is offline.
    const looking = setInterval(() => void this.#look(), LOOK_AGAIN_MS);
    signal.addEventListener('abort', () => {
      clearInterval(looking);
      this.#wake.abort();
    });
    let rounds = 0;
    let isFirst = true;
    while (!signal.aborted) {
      this.#wake = new AbortController();
      const { signal: woken } = this.#wake;
      // Another window may have stored some sales.
      await this.load();
      const hasWork = this.#isReached && toForward(this.#view.sales).length > 0;
      if (hasWork) {
        const isSent = await navigator.locks
          .request(LOCK, { signal }, () => this.#round({ isFirst, signal }))
          .catch(() => false);
        if (isSent) isFirst = false;
      }
      // Forwards immediately when there are new sales or a new connection.
      const againMs = hasWork ? (AGAIN_MS[rounds] ?? 30_000) : null;
      const wakes = await this.#pause(this.#view.hasStorage ? againMs : STORAGE_AGAIN_MS, woken);
      rounds = wakes === 'woken' ? 0 : Math.min(rounds + 1, AGAIN_MS.length - 1);
    }
  }

  #pause(ms: number | null, woken: AbortSignal): Promise<'woken' | 'late'> {
    return new Promise((resolve) => {
      if (woken.aborted) return resolve('woken');
      const timer = ms === null ? undefined : setTimeout(() => resolve('late'), ms);
      const wake = () => {
        clearTimeout(timer);
        resolve('woken');
      };
      woken.addEventListener('abort', wake, { once: true });
    });
  }

  /**
   * Forwards all stored sales that are not final; another window may have changed them.
   * @returns true if the service has responded to all of them.
   */
  async #round({ isFirst, signal }: { readonly isFirst: boolean; readonly signal: AbortSignal }) {
    const sales = await this.#refresh();
    const waiting = toForward(sales).filter(({ state }) => isFirst || state.is !== 'unread');
    let isSent = true;
    const ready = await this.#endReplaced(waiting, signal);
    for (const batch of batchesOf(ready, recordOf)) {
      if (isSent && !signal.aborted) isSent = await this.#send(batch);
    }
    const kept = this.#kept;
    const over = kept === null ? [] : sales.filter((sale) => isOver(sale, this.#now(kept)));
    if (over.length > 0) await removeSales(over);
    await this.#refresh();
    void this.#look();
    return isSent;
  }

  /**
   * Cancels the online payments that these sales replace.
   * @returns the sales that may be forwarded: those whose online payment has ended unpaid
   */
  async #endReplaced(sales: readonly HeldSale[], signal: AbortSignal): Promise<HeldSale[]> {
    const ready: HeldSale[] = [];
    for (const before of sales) {
      // The service has ended the online payment of a sale that it knows.
      const isKnown = before.replaces == null || before.state.is === 'processing';
      if (isKnown) ready.push(before);
      if (isKnown || signal.aborted) continue;
      const { sale, ended } = await endReplaced(this.#payments, before);
      const after = ended === 'paid' ? inState(sale, { is: 'paid_online' }) : sale;
      // Stores the intent's id before anything is sent, so that a saved file has it, too.
      if (after !== before) await changeSales([after]);
      if (ended === 'ended') ready.push(after);
    }
    return ready;
  }

  /** Forwards sales. @returns false if the service currently accepts none. */
  async #send(sales: readonly HeldSale[]): Promise<boolean> {
    const [first] = sales;
    if (first === undefined) return true;
    const answer = await this.#forward(sales.map(recordOf));
    if (answer.is === 'done') {
      this.#show({ refusal: null });
      await changeSales(afterAnswer(sales, answer.value.data));
      return true;
    }
    if (answer.is !== 'refused') return false;
    const { status, error } = answer;
    const { code, message, param } = error;
    const isLarge = status === 413;
    if (isLarge && sales.length > 1) {
      const half = Math.ceil(sales.length / 2);
      return (await this.#send(sales.slice(0, half))) && this.#send(sales.slice(half));
    }
    const broken = isLarge ? first : status === 400 ? refusedRecord(sales, param) : null;
    if (broken !== null) {
      // Marks the one record that the service cannot read, so that it does not stop the others.
      await changeSales([{ ...broken, state: { is: 'unread', code, message } }]);
      return this.#send(sales.filter((one) => one !== broken));
    }
    if (status === 401 || status === 403) {
      this.#show({ refusal: refusalText(error) });
    }
    return false;
  }
}
