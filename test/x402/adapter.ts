import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import {
  decodePaymentSignatureHeader,
  encodePaymentRequiredHeader,
  encodePaymentResponseHeader,
} from '@x402/core/http';
import type { PaymentPayload, PaymentRequirements, SettleResponse } from '@x402/core/types';
import type { Caller } from '#testing/api-client.ts';

/**
 * Sells one resource to x402 clients for a Tapline merchant. It uses public interfaces only: the
 * merchant API, the payer API of a wallet of its own, and the x402 packages. docs/x402.md explains
 * why the money takes two hops.
 */
export interface Shop {
  /** The merchant API with a key of the merchant. */
  readonly merchant: Caller;
  /** The payer API, signed in with the adapter's own wallet. */
  readonly bridge: Caller;
  readonly account: string;
  /** A terminal that no device picks intents up from. */
  readonly terminal: string;
  /** Atoms that the merchant gets. */
  readonly price: number;
  /** Atoms that the client pays: the price, and what the network takes from the bridge for it. */
  readonly total: number;
  readonly chainId: number;
  readonly usdc: string;
  readonly usdcDomain: { readonly name: string; readonly version: string };
  readonly bridgeAddress: string;
  /** Verifies and takes an EIP-3009 authorization: a facilitator for the `exact` scheme. */
  readonly facilitator: {
    verify(
      payload: PaymentPayload,
      requirements: PaymentRequirements,
    ): Promise<{ isValid: boolean; invalidReason?: string }>;
    settle(payload: PaymentPayload, requirements: PaymentRequirements): Promise<SettleResponse>;
  };
  /** Gives the client its money back when the intent could not be paid. */
  readonly giveBack: (to: string, atoms: number) => Promise<void>;
}

/** Seconds in which the client's signature may be used. */
const MAX_TIMEOUT_SECONDS = 60;
const AGENT_TOKEN_SECONDS = 60;
const X402_VERSION = 2;

function requirementsOf(shop: Shop): PaymentRequirements {
  return {
    scheme: 'exact',
    network: `eip155:${shop.chainId}`,
    asset: shop.usdc,
    amount: String(shop.total),
    payTo: shop.bridgeAddress,
    maxTimeoutSeconds: MAX_TIMEOUT_SECONDS,
    extra: { ...shop.usdcDomain },
  };
}

function askForPayment(response: ServerResponse, shop: Shop, url: string, error: string): void {
  const header = encodePaymentRequiredHeader({
    x402Version: X402_VERSION,
    error,
    resource: { url, description: 'Coffee of the day', mimeType: 'application/json' },
    accepts: [requirementsOf(shop)],
  });
  response.writeHead(402, { 'PAYMENT-REQUIRED': header, 'Content-Type': 'application/json' });
  response.end(JSON.stringify({ error }));
}

/** One EIP-3009 nonce buys once: it names the intent's key, so a retry finds the same intent. */
function nonceOf(payload: PaymentPayload): string {
  const { authorization } = payload.payload as { authorization: { nonce: string } };
  return authorization.nonce;
}

function buyerOf(payload: PaymentPayload): string {
  const { authorization } = payload.payload as { authorization: { from: string } };
  return authorization.from;
}

/**
 * The second hop: the bridge's wallet pays the merchant through Tapline. An intent that is not paid
 * is canceled, so that it cannot be paid behind our back; if that is refused it was paid after all.
 */
async function payIntent(shop: Shop, key: string): Promise<boolean> {
  const { account, terminal, price: amount, merchant } = shop;
  const order = { amount, terminal, description: 'Sold over x402' };
  const created = await merchant.post('/payment_intents', order, `x402 ${key}`);
  const minted = await shop.bridge.post('/agent_tokens', {
    account,
    amount,
    expires_in: AGENT_TOKEN_SECONDS,
  });
  const path = `/payment_intents/${created.body.id}`;
  const { agent_token } = minted.body;
  const confirmed = await merchant.post(`${path}/confirm`, { agent_token }, `confirm ${key}`);
  const { status } = confirmed.body;
  if (status === 'succeeded' || status === 'processing') return true;
  return (await merchant.post(`${path}/cancel`)).body.status !== 'canceled';
}

async function sell(shop: Shop, payload: PaymentPayload): Promise<SettleResponse | string> {
  const requirements = requirementsOf(shop);
  const verified = await shop.facilitator.verify(payload, requirements);
  if (!verified.isValid) return verified.invalidReason ?? 'invalid';
  const taken = await shop.facilitator.settle(payload, requirements);
  if (!taken.success) return taken.errorReason ?? 'not settled';
  if (await payIntent(shop, nonceOf(payload))) return taken;
  await shop.giveBack(buyerOf(payload), shop.total);
  return 'the merchant could not be paid; the money was given back';
}

async function answer(request: IncomingMessage, response: ServerResponse, shop: Shop) {
  const url = `http://${request.headers.host}${request.url}`;
  const header = request.headers['payment-signature'];
  if (typeof header !== 'string') return askForPayment(response, shop, url, 'Payment required');
  const sold = await sell(shop, decodePaymentSignatureHeader(header));
  if (typeof sold === 'string') return askForPayment(response, shop, url, sold);
  response.writeHead(200, {
    'PAYMENT-RESPONSE': encodePaymentResponseHeader(sold),
    'Content-Type': 'application/json',
  });
  response.end(JSON.stringify({ coffee: 'Ethiopia, washed' }));
}

/** The shop's HTTP server; the caller listens. */
export function createAdapter(shop: Shop): Server {
  return createServer((request, response) => {
    answer(request, response, shop).catch((error: unknown) => {
      response.writeHead(500).end(String(error));
    });
  });
}
