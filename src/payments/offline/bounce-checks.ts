import { addSeconds } from '#core/clock.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '#core/durations.ts';
import type { Sql } from '#db/database.ts';
import type { BounceReason } from '#payments/offline/states.ts';
import type { Chain } from '#settlement/chain/chain.ts';
import { chargesOf, type FeeRates, readFeeRates } from '#settlement/chain/fee-rates.ts';
import {
  type OfflineAuthorization,
  type OfflineSale,
  offlineNonce,
} from '#settlement/chain/offline-authorization.ts';
import { isAuthorizationUsed } from '#settlement/chain/payer-account.ts';
import type { CheckResult } from '#settlement/chain/payment-check.ts';
import { RpcUnavailable } from '#settlement/chain/rpc.ts';
import {
  type AuthorizedPayment,
  checkAuthorization,
} from '#settlement/chain/simulate-authorization.ts';
import { ratesUntilOf, readOperations } from '#settlement/chain/timelock-operations.ts';
import { isTokenStopped } from '#settlement/chain/token-stop.ts';
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

/** Time for which fee rates are cached. The next constant is for their announced changes. */
const RATES_MS = 1_000;
const CHANGES_MS = 5_000;

/**
 * Reads the rates of the merchant's contract.
 * @throws RpcUnavailable
 */
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

/** Returns the start of the UTC day of this time. */
export function utcDay(at: Date): Date {
  return new Date(at.getTime() - (at.getTime() % DAY_MS));
}

/**
 * Returns the bounce reason that follows from the record and the rates alone; `null` if there is
 * none.
 */
export function judgeTerms(
  { sale, authorization }: Signed,
  { rates, ratesUntil }: OfflineRates,
  now: Date,
): BounceReason | null {
  const seconds = BigInt(Math.floor(now.getTime() / SECOND_MS));
  const { value, validAfter, validBefore } = authorization;
  const latest = seconds + BigInt(LONGEST_VALID_MS / SECOND_MS);
  if (validBefore > latest || validAfter > seconds) return 'authorization_invalid';
  if (validBefore <= seconds) return 'authorization_expired';
  const isLate = ratesUntil !== null && addSeconds(new Date(0), Number(validBefore)) > ratesUntil;
  return isLate || value !== chargesOf(sale.amount, rates).pulled ? 'rates_changed' : null;
}

/** Converts the authorization to the format that the relayer sends. */
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
 * The chain's verdict on a sale. `later`: the hourly ceiling has too little room, or the token is
 * paused. `settled`: the contract has already settled this number. `merchant_refused`: the contract
 * settles nothing for this merchant now.
 */
export type ChainVerdict =
  | BounceReason
  | 'ok'
  | 'later'
  | 'settled'
  | 'merchant_refused'
  | 'unavailable';

/** Queries whether the contract and the token would accept the payment now. */
export async function judgeOnChain(
  chain: Chain,
  authorized: AuthorizedPayment,
): Promise<ChainVerdict> {
  const { payment, authorization } = authorized;
  const { merchantNumber, amount, payer: from } = payment;
  const nonce = offlineNonce({ merchantNumber, amount, salt: authorization.salt });
  try {
    const [result, isUsed] = await Promise.all([
      checkAuthorization(chain, authorized),
      isAuthorizationUsed(chain, { from, nonce }),
    ]);
    switch (result.status) {
      case 'ok':
        return 'ok';
      case 'hour_full':
        return 'later';
      case 'unavailable':
        return 'unavailable';
      case 'declined':
        if (result.reason === 'settlement_failed') {
          return result.refusal === 'AlreadySettled' ? 'settled' : 'merchant_refused';
        }
        if (isUsed) return 'authorization_used';
        if (result.reason === 'insufficient_funds') return 'insufficient_funds';
        if (result.ratesDiffer === true) return 'rates_changed';
        // Waits instead of bouncing, because a bounce is final and a paused token says nothing
        // about the authorization.
        if (await isTokenStopped(chain, contractOf(chain.config, merchantNumber))) return 'later';
        // Checks again: the token may have been paused only during the first check.
        return isRefused(await checkAuthorization(chain, authorized))
          ? 'authorization_invalid'
          : 'later';
    }
  } catch (error) {
    if (error instanceof RpcUnavailable) return 'unavailable';
    throw error;
  }
}

function isRefused(result: CheckResult): boolean {
  return result.status === 'declined' && result.reason === 'authorization_refused';
}
