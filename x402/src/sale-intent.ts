import { createHash } from 'node:crypto';
import type { PaymentIntent, Tapline } from 'tapline';
import { TaplineError } from 'tapline';
import type { Address } from 'viem';
import type { Authorization } from './authorization.ts';
import type { Payer } from './payer.ts';
import type { Requirements } from './payment-requirements.ts';
import type { FeeRates } from './price-after-fees.ts';
import type { Token } from './transfer-usdc.ts';

/** The merchant and its terminal. */
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
  readonly requirements: Requirements;
  /** Atoms for the merchant. */
  readonly price: number;
}

/** The longest lifetime of an intent, needed for slow chains. */
const EXPIRES_IN_SECONDS = 600;
const URL_LENGTH = 400;
/** Six bytes yield an eight-character order ID. */
const ORDER_BYTES = 6;

/** The payment intent of a sale. It is found again by the sale's signature. */
export type Place =
  | { readonly intent: PaymentIntent }
  /** The signature was used for another sale. */
  | { readonly taken: true };

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

export function keyOf({ from, nonce }: Authorization): string {
  return `x402 ${from} ${nonce}`;
}

/**
 * Returns an order ID of eight characters, unique per account. It identifies the sale after its
 * idempotency key has expired.
 */
function orderIdOf(authorization: Authorization): string {
  return digestOf(keyOf(authorization)).subarray(0, ORDER_BYTES).toString('base64url');
}

/**
 * Returns the metadata that identifies the sale: the seller's requirements and the signature's
 * nonce.
 */
function metadataOf({ authorization, requirements }: Sale): Record<string, string> {
  return {
    x402_payer: authorization.from,
    x402_nonce: authorization.nonce,
    x402_amount: String(authorization.value),
    x402_until: String(authorization.validBefore),
    x402_requirements: digestOf(canonical(requirements)).toString('hex'),
  };
}

/**
 * Returns the sale's intent, and creates it if necessary. It exists before any money moves, so a
 * signature buys the first resource that it was presented for, once, in any process and at any
 * time.
 */
export async function openSale(seller: Seller, sale: Sale): Promise<Place> {
  const { merchant, terminal } = seller;
  const metadata = metadataOf(sale);
  const order_id = orderIdOf(sale.authorization);
  const { resource } = sale.requirements.extra;
  const what = typeof resource === 'string' ? `: ${resource.slice(0, URL_LENGTH)}` : '';
  const body = {
    amount: sale.price,
    terminal,
    order_id,
    description: `Sold over x402${what}`,
    metadata,
    expires_in: EXPIRES_IN_SECONDS,
  };
  try {
    const created = await merchant.paymentIntents.create(body, {
      idempotencyKey: keyOf(sale.authorization),
    });
    // A replayed response may be outdated, so this reads the intent.
    const intent = await merchant.paymentIntents.retrieve(created.id);
    // An intent rebuilt from the chain has its order ID and amount, but no metadata.
    return isSale(intent, metadata) ? { intent } : { taken: true };
  } catch (error) {
    const code = error instanceof TaplineError ? (error.code ?? '') : '';
    // The signature's intent exists already, perhaps at an earlier price. The check below compares
    // them.
    if (!['idempotency_key_reused', 'order_id_in_use'].includes(code)) throw error;
  }
  const intent = await findSale(seller, sale.authorization);
  return intent !== null && isSale(intent, metadata) ? { intent } : { taken: true };
}

function isSale(intent: PaymentIntent, metadata: Record<string, string>): boolean {
  return canonical(intent.metadata) === canonical(metadata);
}

/** Returns the intent of an earlier call; creates none. */
export async function findSale(
  seller: Seller,
  authorization: Authorization,
): Promise<PaymentIntent | null> {
  const order_id = orderIdOf(authorization);
  const { data } = await seller.merchant.paymentIntents.list({ order_id, limit: 1 }).page;
  const [intent] = data;
  return intent?.metadata.x402_nonce === authorization.nonce ? intent : null;
}
