import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { PaymentIntent, Tapline } from 'tapline';
import { TaplineError } from 'tapline';
import { type Address, getAddress, type Hex } from 'viem';
import type { Authorization } from './authorization.ts';
import type { Payer } from './payer.ts';
import type { Requirements } from './payment-requirements.ts';
import type { FeeRates } from './price-after-fees.ts';
import type { Token } from './transfer-usdc.ts';

export interface Seller {
  readonly merchant: Tapline;
  readonly account: string;
  /** A terminal that no device polls, so that nothing else takes its intents. */
  readonly terminal: string;
  readonly payer: Payer;
  readonly token: Token;
  /** The wallet that takes the client's money and pays the merchant. */
  readonly bridge: Address;
  readonly feeRates: () => FeeRates;
}

/** One signature and its requirements. */
export interface Sale {
  readonly authorization: Authorization;
  /**
   * The name that the caller gives the purchase, or `null`. All signatures of a payer with one
   * identifier are one purchase.
   */
  readonly identifier: string | null;
  readonly requirements: Requirements;
  /** Atoms for the merchant. */
  readonly price: number;
}

export type Identity = Pick<Sale, 'authorization' | 'identifier'>;

/** The payment intent of a sale. It is found again by the sale's signature or identifier. */
export interface Place {
  readonly intent: PaymentIntent;
  /**
   * 1, unless the identifier's earlier signatures ended unpaid: each further signature then gets
   * its own intent.
   */
  readonly attempt: number;
}

/** The longest lifetime of an intent, needed for slow chains. */
const EXPIRES_IN_SECONDS = 600;
const URL_LENGTH = 400;
/** Six bytes yield an eight-character order ID. */
const ORDER_BYTES = 6;
/** Polling interval for an intent that another call creates, and the number of polls. */
const LOOK_MS = 200;
const LOOKS = 25;
/**
 * Signatures that may end unpaid under one identifier. A client needs one or two; each costs
 * another request to the network.
 */
export const MOST_ATTEMPTS = 10;

function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** Returns canonical JSON, which does not depend on the order of keys. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
}

/**
 * Returns the text that identifies a sale: the signature or, if the caller named the purchase, the
 * payer and that name.
 */
export function keyOf({ authorization, identifier }: Identity, attempt = 1): string {
  const { from, nonce } = authorization;
  if (identifier === null) return `x402 ${from} ${nonce}`;
  const key = `x402 ${from} id ${digestOf(identifier).toString('hex')}`;
  return attempt === 1 ? key : `${key} ${attempt}`;
}

/**
 * Returns an order ID of eight characters, unique per account. It identifies the sale after its
 * idempotency key has expired.
 */
function orderIdOf(key: string): string {
  return digestOf(key).subarray(0, ORDER_BYTES).toString('base64url');
}

/** Returns the hash of the seller's requirements, which a signature must not change. */
function requirementsHashOf({ requirements }: Sale): string {
  return digestOf(canonical(requirements)).toString('hex');
}

/** Returns the metadata that identifies the sale, its signature and the process that opened it. */
function metadataOf(sale: Sale, claim: string): Record<string, string> {
  const { authorization, identifier } = sale;
  return {
    x402_payer: authorization.from,
    x402_nonce: authorization.nonce,
    x402_amount: String(authorization.value),
    x402_until: String(authorization.validBefore),
    x402_requirements: requirementsHashOf(sale),
    x402_claim: claim,
    ...(identifier === null ? {} : { x402_identifier: digestOf(identifier).toString('hex') }),
  };
}

/** Returns the authorization that an intent is paid with, without its signature. */
export function paidBy(seller: Seller, { metadata }: PaymentIntent): Authorization {
  const { x402_payer = '', x402_nonce = '', x402_amount = '', x402_until = '' } = metadata;
  return {
    from: getAddress(x402_payer),
    to: seller.bridge,
    value: BigInt(x402_amount),
    validAfter: 0n,
    validBefore: BigInt(x402_until),
    nonce: x402_nonce as Hex,
    signature: '0x',
  };
}

/**
 * Returns the sale's intent, and creates it if necessary. It exists before any money moves, so a
 * signature buys the first resource that it was presented for, once, in any process and at any
 * time. The network's idempotency decides which caller creates it.
 */
export async function openSale(
  seller: Seller,
  sale: Sale,
  { attempt, claim }: { readonly attempt: number; readonly claim: string },
): Promise<PaymentIntent> {
  const { merchant, terminal } = seller;
  const key = keyOf(sale, attempt);
  const { resource } = sale.requirements.extra;
  const what = typeof resource === 'string' ? `: ${resource.slice(0, URL_LENGTH)}` : '';
  const body = {
    amount: sale.price,
    terminal,
    order_id: orderIdOf(key),
    description: `Sold over x402${what}`,
    metadata: metadataOf(sale, claim),
    expires_in: EXPIRES_IN_SECONDS,
  };
  try {
    const created = await merchant.paymentIntents.create(body, { idempotencyKey: key });
    // A replayed response may be outdated, so this reads the intent.
    return await merchant.paymentIntents.retrieve(created.id);
  } catch (error) {
    const code = error instanceof TaplineError ? (error.code ?? '') : '';
    // The sale's intent exists already, created by another call or at an earlier price.
    if (!['idempotency_key_reused', 'order_id_in_use'].includes(code)) throw error;
  }
  // Another call may be creating it at this moment.
  for (let look = 0; look < LOOKS; look++) {
    const intent = await findByKey(seller, key);
    if (intent !== null) return intent;
    await sleep(LOOK_MS);
  }
  throw new Error(`the network does not show the payment intent of ${key}`);
}

/**
 * A signature buys one resource; with an identifier, another signature may be for the same
 * purchase.
 */
export function isOfSale({ metadata }: PaymentIntent, sale: Sale): boolean {
  const { authorization, identifier } = sale;
  const { from, nonce } = authorization;
  return (
    // An intent rebuilt from the chain has its order ID and amount, but no metadata.
    metadata.x402_payer === from &&
    metadata.x402_requirements === requirementsHashOf(sale) &&
    (identifier !== null || metadata.x402_nonce === nonce)
  );
}

async function findByKey({ merchant }: Seller, key: string): Promise<PaymentIntent | null> {
  const { data } = await merchant.paymentIntents.list({ order_id: orderIdOf(key), limit: 1 }).page;
  return data[0] ?? null;
}

/** Returns the intent of an earlier call, the last one of an identifier; creates none. */
export async function findSale(seller: Seller, sale: Identity): Promise<Place | null> {
  let last: Place | null = null;
  for (let attempt = 1; attempt <= MOST_ATTEMPTS; attempt++) {
    const intent = await findByKey(seller, keyOf(sale, attempt));
    if (intent?.metadata.x402_payer !== sale.authorization.from) break;
    last = { intent, attempt };
    if (sale.identifier === null || intent.status !== 'canceled') break;
  }
  return last;
}
