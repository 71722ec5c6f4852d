import { readFileSync } from 'node:fs';
import { nodeFetch } from 'tapline/node-fetch';
import type { TypedData } from './ethereum/typed-data.ts';
import { ProtocolError } from './protocols/apdu.ts';
import { type ProveCollector, proofFrom, proofOf } from './protocols/prove-collector.ts';
import type { TapCredential } from './protocols/read-tap.ts';
import { within } from './time-limit.ts';

/** The part of the device API (`/api/device/v1`) that a reader without a screen needs. */

export interface Intent {
  readonly id: string;
  readonly amount: number;
  readonly status: string;
  readonly created: string;
  readonly expires_at: string;
  readonly last_payment_error: { readonly customer_message: string } | null;
}

/** The fields of a settled payment that a cash register receives. */
export interface DevicePayment {
  readonly id: string;
  readonly payment_intent: string;
  /** Sale and tip together. */
  readonly amount: number;
  readonly tip: number;
  readonly amount_refunded: number;
  /** Its `amount` is the price without the tip. */
  readonly presentment: PresentmentPrice | null;
  readonly payment_method: { readonly type: string; readonly credential: string | null };
  readonly receipt_number: string;
  readonly receipt_url: string | null;
  readonly settled_at: string;
  readonly created: string;
}

interface PresentmentPrice {
  readonly currency: string;
  readonly amount: number;
  readonly tip_amount?: number;
}

export interface DeviceRefund {
  readonly status: 'pending' | 'succeeded' | 'failed';
  readonly amount: number;
  readonly presentment: PresentmentPrice | null;
  readonly receipt_number: string | null;
  readonly receipt_url: string | null;
  readonly updated: string;
}

export interface Page<T> {
  readonly data: readonly T[];
  readonly next_cursor: string | null;
}

/** Totals since a point in time. A cash register uses the refunds. */
export interface DeviceTotals {
  readonly total: {
    readonly refunds: number;
    readonly refunded: number;
    readonly presentment: readonly { readonly currency: string; readonly refunded: number }[];
  };
}

/**
 * Thrown if the response is an error. The request did nothing, unless {@link mayComeAgain} says
 * that it may still succeed.
 */
export class DeviceApiError extends Error {
  readonly status: number;
  readonly code: string;
  /** The request field that caused the refusal. */
  readonly param: string | null;

  constructor(status: number, code: string, message: string, param: string | null = null) {
    super(message);
    this.name = 'DeviceApiError';
    this.status = status;
    this.code = code;
    this.param = param;
  }
}

/** Longer than the server holds a long poll (25 s) and than a tap may take (30 s). */
const REQUEST_MS = 40_000;

/** Longer than the server waits for the result of a refund (70 s). */
const REFUND_MS = 80_000;

/**
 * Time limit of a request for a chip. It is short, because the customer holds the chip to the
 * reader meanwhile.
 */
const CHIP_MS = 3000;
/** Time limit of a request for a phone, whose whole tap may take two seconds. */
const PHONE_MS = 1500;
/**
 * Time limit of a request that detects dead connections. A reachable server answers well within it.
 */
const CLEAR_MS = 500;
/**
 * Maximum number of connections that this program uses at the same time: three long polls and one
 * action.
 */
const KEPT_CONNECTIONS = 4;
const BAD_GATEWAY = 502;
/** Error codes that mean that Smart Tap is off. The merchant or the operator can turn it on. */
const OFF = ['not_configured', 'kyb_required', 'terminal_inactive'];

export class DeviceApi {
  readonly #base: string;
  readonly #key: string;
  /** Aborts pending requests after the machine has slept. */
  #awake = new AbortController();
  #cleared: Promise<unknown> = Promise.resolve();

  /** @param server URL of the network, for example `https://pay.example.com`. */
  constructor(server: string, deviceKey: string) {
    this.#base = baseOf(server);
    this.#key = deviceKey;
  }

  /** Call this after the machine has slept. Pending requests then fail, and their callers retry. */
  woke(): void {
    this.#awake.abort(new DOMException('this machine has slept', 'AbortError'));
    this.#awake = new AbortController();
    this.#cleared = this.#clearConnections();
  }

  /** Exchanges a pairing code from the dashboard for a device key. Each code works once. */
  static async pair(server: string, code: string): Promise<{ key: string; terminal: string }> {
    const body = JSON.stringify({ code });
    const headers = { 'content-type': 'application/json' };
    const signal = AbortSignal.timeout(REQUEST_MS);
    const response = await nodeFetch(`${baseOf(server)}/pair`, {
      method: 'POST',
      headers,
      body,
      signal,
    });
    const answer = await bodyOf<{ terminal: string; device_key: string }>(response);
    return { key: answer.device_key, terminal: answer.terminal };
  }

  /** Reports this package's name and version as the terminal's software. */
  report(signal: AbortSignal): Promise<unknown> {
    const body = { platform: 'reader', software_version: packageVersion() };
    return this.#call('PATCH', '/terminal', { signal, body });
  }

  /** Returns the oldest open intent, or `null` if none arrived within 25 s. */
  nextIntent(signal: AbortSignal): Promise<Intent | null> {
    return this.#call<Intent | null>('GET', '/payment_intents/next?wait=25', { signal });
  }

  intent(id: string, signal: AbortSignal): Promise<Intent> {
    return this.#call('GET', `/payment_intents/${id}`, { signal });
  }

  /** Returns the intent once its status differs from `seen`, or after 25 s. */
  changed(id: string, seen: string, signal: AbortSignal): Promise<Intent> {
    const query = `wait=25&status=${seen}`;
    return this.#call('GET', `/payment_intents/${id}?${query}`, { signal });
  }

  /** Creates a sale at this terminal. Sending the same key again returns the first response. */
  createIntent(price: object, key: string, signal: AbortSignal): Promise<Intent> {
    return this.#call('POST', '/payment_intents', { body: price, key, signal });
  }

  cancel(id: string, signal: AbortSignal): Promise<Intent> {
    return this.#call('POST', `/payment_intents/${id}/cancel`, { signal });
  }

  /** Returns payments of this terminal, newest first. */
  payments(query: string, signal: AbortSignal): Promise<Page<DevicePayment>> {
    return this.#call('GET', `/payments?${query}`, { signal });
  }

  /** Sending the same key again returns the first response. */
  refund(refund: object, key: string, signal: AbortSignal): Promise<DeviceRefund> {
    return this.#call('POST', '/refunds', { body: refund, key, signal, ms: REFUND_MS });
  }

  totals(since: string, signal: AbortSignal): Promise<DeviceTotals> {
    return this.#call('GET', `/totals?created_gte=${encodeURIComponent(since)}`, { signal });
  }

  /** Reads the terminal, to check that the network answers. */
  terminal(signal: AbortSignal): Promise<unknown> {
    return this.#call('GET', '/terminal', { signal });
  }

  tap(id: string, credential: TapCredential, key: string): Promise<Intent> {
    return this.#call('POST', `/payment_intents/${id}/tap`, { body: { credential }, key });
  }

  /**
   * Returns the message that a chip with this address must sign to pay, or `null` if the intent
   * cannot be paid now.
   */
  async toSign(id: string, from: string, signal: AbortSignal): Promise<TypedData | null> {
    const path = `/payment_intents/${id}/authorization?from=${from}`;
    const { typed_data } = await within({ ms: CHIP_MS, until: [signal] }, (soon) =>
      this.#call<{ typed_data: TypedData | null }>('GET', path, { signal: soon }),
    );
    return typed_data;
  }

  /** Has the network sign a phone's tap with a key that stays on the server. */
  readonly proveCollector: ProveCollector = async (tap) => {
    const signal = AbortSignal.timeout(PHONE_MS);
    const body = proofFrom(tap);
    try {
      return proofOf(await this.#call('POST', '/smart_tap', { body, signal }));
    } catch (error) {
      if (error instanceof DeviceApiError && OFF.includes(error.code)) return null;
      throw new ProtocolError('the network returned no signature', { cause: error });
    }
  };

  /** Sends the chip's signature. Sending the same one again returns the first response. */
  authorize(id: string, signed: { from: string; signature: string }): Promise<Intent> {
    return this.#call('POST', `/payment_intents/${id}/authorization`, { body: signed });
  }

  /** Returns the receipt URL of a paid intent, or `null` if it is not available yet. */
  async receiptUrl(intent: string): Promise<string | null> {
    const { data } = await this.payments('limit=10', AbortSignal.timeout(REQUEST_MS));
    return data.find(({ payment_intent }) => payment_intent === intent)?.receipt_url ?? null;
  }

  /** Sends one small request on each idle connection, so that dead ones are closed. */
  #clearConnections(): Promise<unknown> {
    const headers = { authorization: `Bearer ${this.#key}` };
    const ask = () =>
      nodeFetch(`${this.#base}/terminal`, { headers, signal: AbortSignal.timeout(CLEAR_MS) });
    return Promise.allSettled(
      Array.from({ length: KEPT_CONNECTIONS }, async () => (await ask()).body?.cancel()),
    );
  }

  async #call<T>(
    method: string,
    path: string,
    options: { signal?: AbortSignal; body?: object; key?: string; ms?: number },
  ): Promise<T> {
    const { signal, body, key, ms = REQUEST_MS } = options;
    await this.#cleared;
    const request = {
      method,
      headers: {
        authorization: `Bearer ${this.#key}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(key === undefined ? {} : { 'idempotency-key': key }),
      },
      body: body === undefined ? null : JSON.stringify(body),
    };
    const until = [this.#awake.signal, ...(signal === undefined ? [] : [signal])];
    return within({ ms, until }, async (end) =>
      bodyOf<T>(await nodeFetch(`${this.#base}${path}`, { ...request, signal: end })),
    );
  }
}

function packageVersion(): string {
  const file = new URL('../package.json', import.meta.url);
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
}

function baseOf(server: string): string {
  return `${server.replace(/\/+$/, '')}/api/device/v1`;
}

async function bodyOf<T>(response: Response): Promise<T> {
  if (response.status === 204) return null as T;
  const body = parsed(await response.text()) as (T & { error?: ErrorBody }) | undefined;
  if (response.ok && body !== undefined) return body;
  if (body?.error === undefined) throw notOurs(response.status);
  const { code, message, param = null } = body.error;
  throw new DeviceApiError(response.status, code, message, param);
}

/**
 * Treats a response that is not the network's as a gateway error, because a proxy does not know
 * what happened to the request.
 */
function notOurs(status: number): DeviceApiError {
  const known = status >= 500 || status === 429 ? status : BAD_GATEWAY;
  return new DeviceApiError(known, 'unknown', `HTTP ${status}, and not from the network`);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

interface ErrorBody {
  readonly code: string;
  readonly message: string;
  readonly param?: string | null;
}

/** Formats atoms as an amount of USDC, with at least two decimals. */
export function usdc(atoms: number): string {
  const text = String(atoms).padStart(7, '0');
  return `${text.slice(0, -6)}.${text.slice(-6).replace(/0{1,4}$/, '')}`;
}
