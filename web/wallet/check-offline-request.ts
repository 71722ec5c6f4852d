import { readRate, toAtomsUp } from '#core/currency-conversion.ts';
import {
  type NotRead,
  type OfflinePrice,
  type OfflineRequest,
  readRequest,
} from '../data/offline-request.ts';
import { MAX_ATOMS } from '../ui/format-usdc.ts';
import type { Pin } from './compare-contract-pins.ts';

/**
 * Payments to a till without a connection. Everything here works offline, with the contracts and
 * the balance from the wallet's last connection.
 */

/** The reason why a request is not signed. */
export type RequestProblem =
  | NotRead
  | 'unknown_network'
  | 'other_network'
  | 'other_contracts'
  | 'expired'
  | 'valid_too_long'
  | 'wrong_sum'
  | 'higher_fees';

/** Maximum validity of an authorization that the service accepts. */
const LONGEST_VALID_S = 72 * 3_600;
/** Tolerance, because the clocks of tills and phones differ. */
const CLOCKS_S = 600;
const BASIS_POINTS = 10_000n;
/** Maximum fee of any contract, in basis points. */
const HIGHEST_FEE_RATE = 300;

export interface KnownNetwork {
  /** `null` if the wallet was never online on this network. */
  readonly pin: Pin | null;
  /** Contracts that shops may still use for sales. */
  readonly former: readonly Pin[];
}

function isSame(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}

function isFor({ usdc, usdcDomain, settlement }: Pin, request: OfflineRequest): boolean {
  return (
    isSame(usdc, request.usdc) &&
    isSame(settlement, request.settlement) &&
    usdcDomain.name === request.usdcName &&
    usdcDomain.version === request.usdcVersion
  );
}

/** Checks that only a known contract on this chain could take the money with this signature. */
function contractProblem(
  request: OfflineRequest,
  { pin, former }: KnownNetwork,
): RequestProblem | null {
  if (pin === null) return 'unknown_network';
  if (pin.chainId !== request.chainId) return 'other_network';
  // A signature for another receiver would let that receiver take the money.
  return [pin, ...former].some((one) => isFor(one, request)) ? null : 'other_contracts';
}

function sumProblem(request: OfflineRequest, pin: Pin | null): RequestProblem | null {
  const { amount, value, price } = request;
  if (amount <= 0n || amount > MAX_ATOMS || value <= 0n) return 'wrong_sum';
  // The price on the screen must be the sum that the wallet signs.
  if (price !== undefined && toAtomsUp(BigInt(price.amount), price) !== amount) return 'wrong_sum';
  const rate = pin?.feeRate ?? HIGHEST_FEE_RATE;
  return value > amount + (amount * BigInt(rate)) / BASIS_POINTS ? 'higher_fees' : null;
}

/**
 * Reads the text that a till shows.
 * @returns the request, or the reason why it must not be signed.
 */
export function checkRequest(
  text: string,
  known: KnownNetwork,
  nowMs: number,
): OfflineRequest | RequestProblem {
  const request = readRequest(text);
  if (typeof request === 'string') return request;
  const problem = contractProblem(request, known);
  if (problem !== null) return problem;
  const now = Math.floor(nowMs / 1_000);
  if (request.validBefore <= now) return 'expired';
  if (request.validBefore > now + LONGEST_VALID_S + CLOCKS_S) return 'valid_too_long';
  return sumProblem(request, known.pin) ?? request;
}

/** A difference from the last rate that the wallet has seen, in percent, from which it warns. */
const WARNS_FROM_PERCENT = 5n;

/** How a request's rate compares with the last rate that the wallet has seen in its currency. */
type RateCheck = 'near' | 'higher' | 'lower' | 'unknown';

export function compareRate({ rate }: OfflinePrice, seen: string | undefined): RateCheck {
  if (seen === undefined) return 'unknown';
  const [asked, known] = [readRate(rate), readRate(seen)];
  const difference = asked < known ? known - asked : asked - known;
  if (difference * 100n < known * WARNS_FROM_PERCENT) return 'near';
  return asked < known ? 'lower' : 'higher';
}
