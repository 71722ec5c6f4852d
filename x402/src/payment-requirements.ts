import { type Address, getAddress, isAddress, isHex } from 'viem';
import { type Authorization, unwrap } from './authorization.ts';

/**
 * The x402 (version 2) wire format, as far as scheme `exact` with EIP-3009 needs it. Implemented
 * here so that sellers need no x402 package; the tests run the real packages.
 */

export const X402_VERSION = 2;
/** The extension by which a client names its purchase, so that it may repeat it. */
export const IDENTIFIER = 'payment-identifier';
export const SCHEME = 'exact';

/** The seller's requirements. Every field counts: one signature buys exactly this, once. */
export interface Requirements {
  readonly scheme: string;
  /** For example `eip155:<chain id>`. */
  readonly network: string;
  readonly asset: string;
  /** Atoms, as a string. */
  readonly amount: string;
  readonly payTo: string;
  readonly maxTimeoutSeconds: number;
  readonly extra: Readonly<Record<string, unknown>>;
}

export interface Verified {
  readonly isValid: boolean;
  readonly invalidReason?: string;
  readonly invalidMessage?: string;
  readonly payer?: string;
}

export interface Settled {
  readonly success: boolean;
  readonly errorReason?: string;
  readonly errorMessage?: string;
  readonly payer?: string;
  /**
   * The transaction that took the client's money; of a pending settlement, its latest transaction.
   * Empty if none is known.
   */
  readonly transaction: string;
  readonly network: string;
  readonly amount?: string;
  /** `paymentIntent` is the client's purchase in the merchant's records. */
  readonly extra?: { readonly paymentIntent: string };
}

/** True if the payment was presented before: it is settled once, and delivered to that caller. */
export function isDuplicate({ errorReason }: Settled): boolean {
  return errorReason === 'duplicate_settlement';
}

export interface PaymentRequired {
  readonly x402Version: number;
  readonly error: string;
  readonly resource: { readonly url: string; readonly description?: string };
  readonly accepts: readonly Requirements[];
  readonly extensions?: Fields;
}

type Fields = Readonly<Record<string, unknown>>;

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Atoms and seconds are decimal strings; longer ones exceed the token's range. */
function integerOf(value: unknown): bigint | null {
  return typeof value === 'string' && /^\d{1,78}$/.test(value) ? BigInt(value) : null;
}

function addressOf(value: unknown): Address | null {
  return typeof value === 'string' && isAddress(value, { strict: false })
    ? getAddress(value)
    : null;
}

function hexOf(value: unknown, bytes: { readonly least: number; readonly most: number }) {
  if (typeof value !== 'string' || !isHex(value) || value.length % 2 !== 0) return null;
  const length = (value.length - 2) / 2;
  return length >= bytes.least && length <= bytes.most ? value : null;
}

/** Parses a payload. @returns `null` if it is not an EIP-3009 payload of scheme `exact`. */
export function authorizationOf(payload: unknown): Authorization | null {
  if (!isObject(payload) || !isObject(payload.payload)) return null;
  const { authorization, signature } = payload.payload;
  if (!isObject(authorization)) return null;
  const read = {
    from: addressOf(authorization.from),
    to: addressOf(authorization.to),
    value: integerOf(authorization.value),
    validAfter: integerOf(authorization.validAfter),
    validBefore: integerOf(authorization.validBefore),
    nonce: hexOf(authorization.nonce, { least: 32, most: 32 }),
    // A smart wallet's signature may be long, but not over 10 KB.
    signature: hexOf(signature, { least: 64, most: 10_000 }),
  };
  if (read.signature === null || Object.values(read).includes(null)) return null;
  return { ...(read as Authorization), ...unwrap(read.signature) };
}

const IDENTIFIER_BYTES = { least: 16, most: 128 };
const IDENTIFIER_PATTERN = '^[a-zA-Z0-9_-]+$';

/** The declaration of the extension in `PAYMENT-REQUIRED`. */
export const IDENTIFIER_OFFER: Fields = {
  info: { required: false },
  schema: {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    properties: {
      required: { type: 'boolean' },
      id: {
        type: 'string',
        minLength: IDENTIFIER_BYTES.least,
        maxLength: IDENTIFIER_BYTES.most,
        pattern: IDENTIFIER_PATTERN,
      },
    },
    required: ['required'],
  },
};

/**
 * Returns the name of the purchase: the seller's own key, or the client's identifier.
 * @returns `null` if it has none; `undefined` if the client's is malformed.
 */
export function identifierOf(payload: unknown, key?: string): string | null | undefined {
  if (key !== undefined) return `key ${key}`;
  const { extensions } = isObject(payload) ? payload : {};
  const extension = isObject(extensions) ? extensions[IDENTIFIER] : undefined;
  const info = isObject(extension) ? extension.info : undefined;
  const id = isObject(info) ? info.id : undefined;
  if (id === undefined) return null;
  const { least, most } = IDENTIFIER_BYTES;
  const isWellFormed = typeof id === 'string' && new RegExp(IDENTIFIER_PATTERN).test(id);
  return isWellFormed && id.length >= least && id.length <= most ? `id ${id}` : undefined;
}

export function requirementsOf(value: unknown): Requirements | null {
  if (!isObject(value)) return null;
  const { scheme, network, asset, amount, payTo, maxTimeoutSeconds, extra = {} } = value;
  const texts = [scheme, network, asset, amount, payTo].every((one) => typeof one === 'string');
  if (!texts || typeof maxTimeoutSeconds !== 'number' || !isObject(extra)) return null;
  return value as unknown as Requirements;
}

/** Encodes the value of `PAYMENT-REQUIRED` or `PAYMENT-RESPONSE`. */
export function encodeHeader(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64');
}

/** Decodes a header. @returns `null` if it is not valid. */
export function decodeHeader(text: string): unknown {
  try {
    return JSON.parse(Buffer.from(text, 'base64').toString('utf8'));
  } catch {
    return null;
  }
}
