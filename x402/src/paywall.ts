import type { Facilitator, PricedResource } from './facilitator.ts';
import {
  decodeHeader,
  encodeHeader,
  IDENTIFIER,
  IDENTIFIER_OFFER,
  isDuplicate,
  type PaymentRequired,
  type Requirements,
  type Settled,
  X402_VERSION,
} from './payment-requirements.ts';

export interface Offer {
  /** Atoms for the merchant. The client also pays the network's fees. */
  readonly price: number;
  readonly description?: string;
  /** The resource sold. @default the request's URL */
  readonly resource?: string;
  /**
   * Your own name for the purchase, for example an order number. All payments of a client under
   * one key are one purchase, which every request with the key gets.
   */
  readonly key?: string;
}

/** A successful payment. The server returns the resource with these headers. */
export interface Paid {
  /**
   * Identifies the payment. A client that repeats its `payment-identifier`, and a request with the
   * same {@link Offer.key}, gets the same ID. A caller that acts on a payment must do so once per
   * `paymentIntent`.
   */
  readonly paymentIntent: string;
  readonly payer: string;
  readonly transaction: string;
  readonly headers: Readonly<Record<string, string>>;
}

export interface PaywallOptions {
  /** Receives internal errors. @default writes to standard error */
  readonly onError?: (error: unknown) => void;
}

export type Paywall = (request: Request, offer: Offer) => Promise<Paid | Response>;

const RETRY_SECONDS = '2';
/** The longest time for which browsers cache a preflight response. */
const PREFLIGHT_SECONDS = '7200';

/** CORS headers that let any page request and pay. With `*`, browsers send no cookies. */
const FOR_BROWSERS = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers': 'PAYMENT-REQUIRED, PAYMENT-RESPONSE',
} as const;

/**
 * Answers the preflight request that browsers send before `PAYMENT-SIGNATURE` goes to another site.
 * It requires no payment.
 */
function preflight(request: Request): Response {
  const requested = (name: string) => request.headers.get(`Access-Control-Request-${name}`);
  const headers = {
    ...FOR_BROWSERS,
    'Access-Control-Allow-Methods': requested('Method') ?? 'GET, POST',
    'Access-Control-Allow-Headers': requested('Headers') ?? 'PAYMENT-SIGNATURE',
    'Access-Control-Max-Age': PREFLIGHT_SECONDS,
    Vary: 'Access-Control-Request-Method, Access-Control-Request-Headers',
  };
  return new Response(null, { status: 204, headers });
}

/**
 * Requires a payment before a resource is returned.
 * @returns the payment, or the response to send instead.
 */
export function paywallOf(facilitator: Facilitator, options: PaywallOptions = {}): Paywall {
  const { onError = (error) => console.error(error) } = options;
  const settle = async (payload: unknown, offer: PricedResource): Promise<Settled> => {
    try {
      const requirements = await facilitator.requirementsFor(payload, offer);
      return await facilitator.settle(payload, requirements, { key: offer.key });
    } catch (error) {
      onError(error);
      return unknownOf(facilitator.requirements(offer));
    }
  };
  return async (request, offer) => {
    if (request.method === 'OPTIONS') return preflight(request);
    const resource = offer.resource ?? request.url;
    const priced = { price: offer.price, resource, key: offer.key };
    const ask = (error: string, settled?: Settled) => {
      const { description } = offer;
      const what = { url: resource, ...(description === undefined ? {} : { description }) };
      const accepts = [facilitator.requirements(priced)];
      const extensions = { [IDENTIFIER]: IDENTIFIER_OFFER };
      const body = { x402Version: X402_VERSION, error, resource: what, accepts, extensions };
      return required(body, settled);
    };
    const header = request.headers.get('PAYMENT-SIGNATURE');
    if (header === null) return ask('Payment required');
    const settled = await settle(decodeHeader(header), priced);
    if (settled.success) return paidOf(settled);
    // Another 402 would make the client sign a second payment.
    if (isDuplicate(settled)) return duplicate(settled);
    return settled.errorReason === 'settlement_pending'
      ? pending(settled)
      : ask(settled.errorReason ?? 'Payment failed', settled);
  };
}

/** A service did not answer. Money that was taken stays taken, and the next call continues. */
function unknownOf({ network }: Requirements): Settled {
  return {
    success: false,
    errorReason: 'settlement_pending',
    errorMessage: 'The result is unknown.',
    transaction: '',
    network,
  };
}

function paidOf(settled: Settled): Paid {
  return {
    paymentIntent: settled.extra?.paymentIntent ?? '',
    payer: settled.payer ?? '',
    transaction: settled.transaction,
    headers: {
      ...FOR_BROWSERS,
      'PAYMENT-RESPONSE': encodeHeader(settled),
      'Cache-Control': 'private',
    },
  };
}

function required(body: PaymentRequired, settled?: Settled): Response {
  const headers: Record<string, string> = {
    ...FOR_BROWSERS,
    'PAYMENT-REQUIRED': encodeHeader(body),
    'Cache-Control': 'no-store',
  };
  if (settled !== undefined) headers['PAYMENT-RESPONSE'] = encodeHeader(settled);
  const { error } = body;
  const message = settled?.errorMessage;
  return Response.json({ error, ...(message ? { message } : {}) }, { status: 402, headers });
}

/** The payment was presented before, and was or will be delivered to that request. */
function duplicate(settled: Settled): Response {
  const headers = {
    ...FOR_BROWSERS,
    'PAYMENT-RESPONSE': encodeHeader(settled),
    'Cache-Control': 'no-store',
  };
  const { errorReason: error, errorMessage: message, transaction, extra } = settled;
  const body = { error, message, transaction, payment_intent: extra?.paymentIntent };
  return Response.json(body, { status: 409, headers });
}

function pending(settled: Settled): Response {
  const headers = {
    ...FOR_BROWSERS,
    'PAYMENT-RESPONSE': encodeHeader(settled),
    'Retry-After': RETRY_SECONDS,
    'Cache-Control': 'no-store',
  };
  const message = `${settled.errorMessage ?? ''} Send the same request again.`.trim();
  return Response.json({ error: 'settlement_pending', message }, { status: 503, headers });
}
