import {
  AbstractPaymentProvider,
  BigNumber,
  MedusaError,
  PaymentActions,
  PaymentSessionStatus,
} from '@medusajs/framework/utils';
import { formatUsdc, OutcomeUnknownError, Tapline, TaplineError, usdc } from 'tapline';
import { verify } from 'tapline/webhooks';

/**
 * Orders of a point of sale are paid at a terminal: a payment session is a payment intent, the
 * customer taps, and the money is captured with the tap. There is nothing to capture later.
 *
 * @typedef {object} Options
 * @property {string} apiKey `tlsk_…`, with payments and refunds, read and write
 * @property {string} baseUrl the API of the network: it ends with `/api`
 * @property {string} terminal `tml_…`, where a session names none
 * @property {string} webhookSecret `whsec_…` of the endpoint `<medusa>/hooks/payment/tapline_<id>`
 * @property {string[]} [currencies] taken one to one for USDC; default `['usdc', 'usd']`
 * @property {number} [waitSeconds] how long completing an order waits for the tap; default 0
 */

const CURRENCIES = ['usdc', 'usd'];
/** As long as a payment intent may be open: a queue at the till takes its time. */
const EXPIRES_IN_SECONDS = 600;
/** One minute: longer than the network needs to report the result of a request. */
const LOOKS = 60;
const LOOK_MS = 1_000;
const TERMINAL = /^tml_[0-9A-Za-z]+$/;

/** What Medusa calls each state of an intent. */
const STATUSES = {
  requires_payment_method: PaymentSessionStatus.PENDING,
  requires_action: PaymentSessionStatus.REQUIRES_MORE,
  processing: PaymentSessionStatus.PENDING,
  succeeded: PaymentSessionStatus.CAPTURED,
  canceled: PaymentSessionStatus.CANCELED,
};

/** Events that move an order on; a decline does not, because the customer may tap again. */
const ACTIONS = {
  'payment_intent.succeeded': PaymentActions.SUCCESSFUL,
  'payment_intent.processing': PaymentActions.PENDING,
  'payment_intent.requires_action': PaymentActions.REQUIRES_MORE,
  'payment_intent.canceled': PaymentActions.CANCELED,
};

/** @param {string} message */
function invalid(message) {
  return new MedusaError(MedusaError.Types.INVALID_DATA, message);
}

/** Medusa computes with more decimals than USDC has. */
const DECIMALS = 6;
/** bignumber.js calls it ROUND_HALF_UP. */
const HALF_UP = 4;

/** An amount of Medusa's, with all its decimals. */
function exactOf(amount) {
  return new BigNumber(amount).bigNumber;
}

/** What is charged for it: rounded once, at the cart's total. */
function atomsOf(exact) {
  return usdc(exact.decimalPlaces(DECIMALS, HALF_UP).toFixed());
}

/** Medusa's amount of an intent or a refund; what was made elsewhere has none of its own. */
function exactAmountOf({ amount, metadata = {} }) {
  const exact = exactOf(metadata.medusa_amount ?? formatUsdc(amount));
  return metadata.medusa_part !== undefined || atomsOf(exact) === amount
    ? exact
    : exactOf(formatUsdc(amount));
}

/**
 * True if it expired without a tap. It can no longer be paid, so a new intent cannot charge the
 * customer twice.
 */
function hasExpired({ status, cancellation_reason }) {
  return status === 'canceled' && cancellation_reason === 'expired';
}

/** Medusa forgets a refund whose call fails, so an unknown result is polled until it is known. */
async function outcomeOf(error) {
  for (let look = 0; error instanceof OutcomeUnknownError && look < LOOKS; look++) {
    try {
      return await error.resolve();
    } catch (still) {
      if (!(still instanceof OutcomeUnknownError)) throw still;
      await new Promise((done) => setTimeout(done, LOOK_MS));
    }
  }
  throw error;
}

export class TaplinePaymentProvider extends AbstractPaymentProvider {
  static identifier = 'tapline';

  /** @param {Partial<Options>} options */
  static validateOptions({ apiKey, baseUrl, terminal, webhookSecret }) {
    if (!/^tlsk_(test|live)_/.test(apiKey ?? '')) {
      throw invalid('The option apiKey of Tapline is a secret key: tlsk_…');
    }
    if (!/^https?:\/\/.*\/api\/?$/.test(baseUrl ?? '')) {
      throw invalid('The option baseUrl of Tapline is the address of the API: https://…/api');
    }
    if (!TERMINAL.test(terminal ?? '')) {
      throw invalid('The option terminal of Tapline is the id of a terminal: tml_…');
    }
    // An abandoned cart whose payment Medusa never hears of would be paid without an order.
    if (!/^whsec_./.test(webhookSecret ?? '')) {
      throw invalid('The option webhookSecret of Tapline is that of its webhook endpoint: whsec_…');
    }
  }

  /**
   * @param {Record<string, unknown>} container
   * @param {Options} options
   */
  constructor(container, options) {
    super(container, options);
    this.options = options;
    this.tapline = new Tapline(options.apiKey, { baseUrl: options.baseUrl });
  }

  /** Asks the terminal to collect the amount. */
  async initiatePayment({ amount, currency_code, data = {}, context = {} }) {
    this.#checkCurrency(currency_code);
    const session = String(data.session_id ?? context.idempotency_key ?? crypto.randomUUID());
    return this.#ask({ session, exact: exactOf(amount), terminal: data.terminal, before: '' });
  }

  /** Another amount needs another intent: the old one is canceled first, so one at most is paid. */
  async updatePayment({ amount, currency_code, data = {} }) {
    this.#checkCurrency(currency_code);
    const intent = await this.tapline.paymentIntents.retrieve(data.id);
    const exact = exactOf(amount);
    if (hasExpired(intent)) return this.#renew(intent, data, exact);
    if (exactAmountOf(intent).eq(exact)) return this.#answer(intent, data);
    await this.#cancel(intent.id);
    return this.#renew(intent, data, exact);
  }

  /** Creates the next intent after one that can no longer be paid. */
  async #renew(intent, { session_id: session = '', terminal }, exact) {
    return this.#ask({ session, exact, terminal, before: intent.id });
  }

  /** The key is made from the session and the intent before: a repeated call makes no second one. */
  async #ask({ session, exact, terminal, before }) {
    const chosen = terminal ?? this.options.terminal;
    if (!TERMINAL.test(chosen)) throw invalid(`${chosen} is no terminal: tml_…`);
    const intent = await this.tapline.paymentIntents.create(
      {
        amount: atomsOf(exact),
        terminal: chosen,
        expires_in: EXPIRES_IN_SECONDS,
        metadata: { medusa_session: session, medusa_amount: exact.toFixed() },
      },
      { idempotencyKey: `medusa ${session} ${before} ${exact.toFixed()}` },
    );
    return this.#answer(intent, { session_id: session, terminal: chosen });
  }

  #answer(intent, { session_id, terminal }) {
    const { id, payment, order_id, last_payment_error } = intent;
    const data = { id, session_id, terminal, payment, order_id, last_payment_error };
    return { id, data, status: STATUSES[intent.status] ?? PaymentSessionStatus.PENDING };
  }

  async authorizePayment({ data = {} }) {
    const timeout = (this.options.waitSeconds ?? 0) * 1000;
    const { paymentIntents } = this.tapline;
    const intent =
      timeout === 0
        ? await paymentIntents.retrieve(data.id)
        : await paymentIntents
            .waitFor(data.id, { timeout })
            .catch(() => paymentIntents.retrieve(data.id));
    // The order is still wanted: the terminal asks for it again, for another ten minutes.
    if (hasExpired(intent)) return this.#renew(intent, data, exactAmountOf(intent));
    return this.#answer(intent, data);
  }

  async getPaymentStatus({ data = {} }) {
    return this.#answer(await this.tapline.paymentIntents.retrieve(data.id), data);
  }

  async retrievePayment({ data = {} }) {
    return this.getPaymentStatus({ data });
  }

  /** The tap has captured it: here it is only looked at. */
  async capturePayment({ data = {} }) {
    const answer = await this.getPaymentStatus({ data });
    if (answer.status === PaymentSessionStatus.CAPTURED) return answer;
    throw new MedusaError(
      MedusaError.Types.PAYMENT_AUTHORIZATION_ERROR,
      `${data.id} is ${answer.status}: nobody has paid at the terminal.`,
    );
  }

  /**
   * Each part is rounded together with the parts before it: the parts of an amount are all of it,
   * however Medusa divides it.
   */
  async refundPayment({ amount, data = {}, context = {} }) {
    const { payment } = await this.tapline.paymentIntents.retrieve(data.id);
    if (payment === null) throw invalid(`${data.id} is not paid: there is nothing to give back.`);
    const key = context.idempotency_key;
    const before = [];
    for await (const one of this.tapline.refunds.list({ payment, limit: 100 })) before.push(one);
    const known = before.find(({ metadata }) => key !== undefined && metadata.medusa_key === key);
    const given = before.filter(({ status }) => status !== 'failed');
    const exact = exactOf(amount).plus(exactOf(data.less_than_an_atom ?? 0));
    const sum = given.reduce((total, one) => total.plus(exactAmountOf(one)), exact);
    const atoms = atomsOf(sum) - given.reduce((total, one) => total + one.amount, 0);
    if (known === undefined && atoms === 0 && exact.gt(0)) {
      return { data: { ...data, payment, less_than_an_atom: exact.toFixed() } };
    }
    const refund = known ?? (await this.#refund({ payment, atoms, exact, key }));
    if (refund.status !== 'failed') {
      const { less_than_an_atom: _, ...kept } = data;
      return { data: { ...kept, payment, refund: refund.id } };
    }
    throw new MedusaError(
      MedusaError.Types.UNEXPECTED_STATE,
      `The refund failed (${refund.failure_code}): ${refund.failure_message}`,
    );
  }

  #refund({ payment, atoms, exact, key }) {
    const metadata = { medusa_amount: exact.toFixed(), medusa_part: 'true' };
    // Without a key of Medusa's every call is a refund of its own, as it is for Medusa.
    const [keyed, options] =
      key === undefined
        ? [metadata, {}]
        : [{ ...metadata, medusa_key: key }, { idempotencyKey: `medusa refund ${key}` }];
    return this.tapline.refunds
      .create({ payment, amount: atoms, metadata: keyed }, options)
      .catch(outcomeOf);
  }

  async cancelPayment({ data = {} }) {
    // Medusa also deletes sessions that could not be started; those have nothing to cancel.
    if (data.id === undefined) return { data };
    const intent = await this.#cancel(data.id);
    return { data: { ...data, status: intent.status } };
  }

  async deletePayment({ data = {} }) {
    return this.cancelPayment({ data });
  }

  async #cancel(id) {
    try {
      return await this.tapline.paymentIntents.cancel(id);
    } catch (error) {
      if (!(error instanceof TaplineError) || error.status !== 409) throw error;
      throw new MedusaError(
        MedusaError.Types.NOT_ALLOWED,
        `${id} is paid, or about to be. Give the money back instead.`,
      );
    }
  }

  async getWebhookActionAndData({ rawData, headers }) {
    const event = await verify(rawData, headers, this.options.webhookSecret);
    const action = ACTIONS[event.type];
    const intent = event.data.object;
    const session_id = intent.metadata?.medusa_session;
    if (action === undefined || session_id === undefined) {
      return { action: PaymentActions.NOT_SUPPORTED };
    }
    return { action, data: { session_id, amount: new BigNumber(exactAmountOf(intent)) } };
  }

  /** @param {string} code */
  #checkCurrency(code) {
    const currencies = this.options.currencies ?? CURRENCIES;
    if (currencies.includes(code.toLowerCase())) return;
    throw invalid(`Tapline takes ${currencies.join(', ')}, and this order is in ${code}.`);
  }
}
