import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import type { LocalAccount } from 'viem/accounts';
import { chargesOf, type FeeRates } from '#core/charges.ts';
import { toAtomsUp } from '#core/currency-conversion.ts';
import type { Sql } from '#db/database.ts';
import { waitUntil } from '#sandbox/find-and-stop-processes.ts';
import { offlineMessage, offlineNonce } from '#settlement/chain/check/offline-authorization.ts';
import type { Hex } from '#settlement/chain-requests.ts';
import { receiveAuthorization } from '#settlement/contract/signed-messages.ts';
import type { Caller, Reply } from '#testkit/apis/api-client.ts';
import type { PayGround } from '#testkit/apis/pay-ground.ts';
import { AMOUNT } from '#testkit/fixtures/payments/sale-amounts.ts';

/** Limits that are so high that only tests of limits reach them. */
export const WIDE_LIMITS = {
  per_payment: 100_000_000,
  per_card_per_day: 1_000_000_000,
  total: 1_000_000_000,
  count: 1_000,
  hours: 24,
  presentment: null,
  rate_margin: 100,
} as const;

/** The fees of the test contracts, in basis points. */
export const RATES = { acquirer: 30, protocol: 20, cashback: 5 } as const;

export interface KeptSale {
  readonly authorization: {
    readonly from: string;
    readonly value: number;
    readonly valid_after: number;
    readonly valid_before: number;
    readonly nonce: string;
    readonly signature: string;
  };
  readonly amount: number;
  readonly salt: string;
  readonly accepted_at: string;
}

/** Parts of a sale that a test may change before the wallet signs. */
export interface OfflineWish {
  readonly amount?: number;
  readonly value?: number;
  readonly validAfter?: number;
  /** Unix seconds; default: one day from now. */
  readonly validBefore?: number;
  readonly salt?: Hex;
  readonly acceptedAt?: Date;
  readonly rates?: typeof RATES | { acquirer: number; protocol: number; cashback: number };
}

/** Has a wallet sign a sale of the test merchant, as a payer does at an offline till. */
export async function signOffline(
  ground: PayGround,
  account: LocalAccount,
  wish: OfflineWish = {},
): Promise<KeptSale> {
  const { config } = ground.world.network;
  const merchantNumber = ground.world.merchant.merchantNumber ?? 0n;
  const { amount = AMOUNT, rates = RATES, validAfter = 0 } = wish;
  const salt = wish.salt ?? (`0x${randomBytes(32).toString('hex')}` as const);
  const value = wish.value ?? Number(chargesOf(BigInt(amount), rates).pulled);
  const validBefore = wish.validBefore ?? Math.floor(Date.now() / 1000) + 86_400;
  const nonce = offlineNonce({ merchantNumber, amount: BigInt(amount), salt });
  const message = offlineMessage(config, merchantNumber, {
    from: account.address,
    value: BigInt(value),
    validAfter: BigInt(validAfter),
    validBefore: BigInt(validBefore),
    nonce,
  });
  return {
    authorization: {
      from: account.address,
      value,
      valid_after: validAfter,
      valid_before: validBefore,
      nonce,
      signature: await account.signTypedData(message),
    },
    amount,
    salt,
    accepted_at: (wish.acceptedAt ?? new Date()).toISOString(),
  };
}

/** The payment terms that a till stores before it goes offline. */
export interface TillTerms {
  readonly chain_id: number;
  readonly usdc: Hex;
  readonly usdc_name: string;
  readonly usdc_version: string;
  readonly settlement: Hex;
  readonly merchant_number: number;
  readonly rates: FeeRates;
  readonly presentment: {
    readonly id: string;
    readonly currency: string;
    readonly rate: string;
  } | null;
}

/**
 * Has a wallet sign a sale at a till's terms.
 * @param units minor units of the terms' currency, or atoms if they have none
 */
export async function signAtTerms(account: LocalAccount, terms: TillTerms, units: number) {
  const { presentment: price } = terms;
  const amount = price === null ? BigInt(units) : toAtomsUp(BigInt(units), price);
  const salt: Hex = `0x${randomBytes(32).toString('hex')}`;
  const signed = {
    from: account.address,
    value: chargesOf(amount, terms.rates).pulled,
    validBefore: BigInt(Math.floor(Date.now() / 1_000) + 86_400),
    nonce: offlineNonce({ merchantNumber: BigInt(terms.merchant_number), amount, salt }),
  };
  const usdcDomain = { name: terms.usdc_name, version: terms.usdc_version };
  const token = { chainId: terms.chain_id, usdc: terms.usdc, usdcDomain };
  const message = receiveAuthorization(token, { ...signed, to: terms.settlement });
  const sale: KeptSale = {
    authorization: {
      from: signed.from,
      value: Number(signed.value),
      valid_after: 0,
      valid_before: Number(signed.validBefore),
      nonce: signed.nonce,
      signature: await account.signTypedData(message),
    },
    amount: Number(amount),
    salt,
    accepted_at: new Date().toISOString(),
  };
  return price === null ? sale : { ...sale, presentment: { terms: price.id, amount: units } };
}

/** A forwarded sale as the till's API returns it. */
export type Forwarded = Readonly<Record<string, unknown>>;

export function forwardSales(till: Caller, sales: readonly object[]): Promise<Reply> {
  return till.post('/offline_payments', { payments: sales });
}

/** Returns the sales in a response, which must not be a refusal. */
export function forwardedIn({ status, body }: Reply): Forwarded[] {
  assert.equal(status, 200, JSON.stringify(body));
  assert.equal(body.object, 'list');
  return body.data as Forwarded[];
}

const SETTLE_MS = 30_000;

/** Forwards the sales until each one has ended. */
export async function settleForwarded(
  till: Caller,
  sales: readonly object[],
): Promise<Forwarded[]> {
  let items: Forwarded[] = [];
  await waitUntil(async () => {
    items = forwardedIn(await forwardSales(till, sales));
    return items.every(({ status }) => status !== 'processing');
  }, SETTLE_MS);
  return items;
}

/** Sets the limits of a terminal (default: the test merchant's). */
export async function setLimits(
  ground: { readonly store: { readonly db: Sql; readonly terminalId: string } },
  limits: object | null = WIDE_LIMITS,
  terminalId = ground.store.terminalId,
): Promise<void> {
  await ground.store.db.query('update terminals set offline = $2::text::jsonb where id = $1', [
    terminalId,
    limits === null ? null : JSON.stringify(limits),
  ]);
}
