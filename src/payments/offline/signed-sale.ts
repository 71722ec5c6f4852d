import type { FeeRates } from '#core/charges.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '#core/durations.ts';
import type { Sql } from '#db/database.ts';
import type { BounceReason } from '#payments/offline/offline-states.ts';
import type { Chain } from '#settlement/chain/chain.ts';
import type {
  OfflineAuthorization,
  OfflineSale,
} from '#settlement/chain/check/offline-authorization.ts';
import { readFeeRates } from '#settlement/chain/fees/fee-rates.ts';
import { ratesUntilOf, readOperations } from '#settlement/chain/read/timelock-operations.ts';
import type { PaymentAuthorization } from '#settlement/chain-requests.ts';
import { contractOf } from '#settlement/contract-versions.ts';

/** Maximum remaining validity of an authorization when it arrives. */
export const LONGEST_VALID_MS = 72 * HOUR_MS;

/**
 * Tolerance for a till's clock that is ahead. The till's time decides on which day a sale counts
 * (`per_card_per_day`).
 */
const AHEAD_MS = 5 * MINUTE_MS;

/** The sale and the signature of a verified record. */
export interface Signed {
  readonly sale: OfflineSale;
  readonly authorization: OfflineAuthorization;
}

/** The contract's fee rates, and the time until which they cannot change. */
export interface OfflineRates {
  readonly rates: FeeRates;
  /** Earliest time at which an announced change can be applied; `null` if none is announced. */
  readonly ratesUntil: Date | null;
}

/** Times for which the fee rates, and the announced changes of them, are cached. */
const RATES_MS = 1_000;

const CHANGES_MS = 5_000;

/** @throws RpcUnavailable */
export async function readOfflineRates(
  sql: Sql,
  chain: Chain,
  merchantNumber: bigint,
): Promise<OfflineRates> {
  const settlement = contractOf(chain.config, merchantNumber);
  const [rates, ratesUntil] = await Promise.all([
    chain.remember(`fee rates of ${settlement}`, RATES_MS, () => readFeeRates(chain, settlement)),
    chain.remember(`rates until of ${settlement}`, CHANGES_MS, async () =>
      ratesUntilOf(await readOperations(sql, chain, settlement)),
    ),
  ]);
  return { rates, ratesUntil };
}

/**
 * Returns the time at which the till accepted a sale, limited to a plausible range before its
 * arrival.
 */
export function countedAt(acceptedAt: Date, now: Date): Date {
  const at = Math.max(acceptedAt.getTime(), now.getTime() - LONGEST_VALID_MS);
  return new Date(Math.min(at, now.getTime() + AHEAD_MS));
}

export function utcDay(at: Date): Date {
  return new Date(at.getTime() - (at.getTime() % DAY_MS));
}

export function toPaymentAuthorization({ sale, authorization }: Signed): PaymentAuthorization {
  const { validAfter, validBefore, signature } = authorization;
  return {
    salt: sale.salt,
    bindsOrder: false,
    ...(validAfter === 0n ? {} : { validAfter: validAfter.toString() }),
    validBefore: validBefore.toString(),
    signature,
  };
}

/**
 * `later`: the hourly ceiling has too little room, or the token is paused. `settled`: the contract
 * has already settled this number. `merchant_refused`: the contract settles nothing for this
 * merchant now. `wallet_refuses`: the wallet's contract refuses its own signature now; the sale
 * bounces only when the authorization ends, because the wallet may change.
 */
export type ChainVerdict =
  | BounceReason
  | 'ok'
  | 'later'
  | 'settled'
  | 'merchant_refused'
  | 'unavailable';
