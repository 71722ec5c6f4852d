import { type NotRead, type OfflineRequest, readRequest } from '../data/offline-request.ts';
import { MAX_ATOMS } from '../ui/money.ts';
import type { Pin } from './contracts.ts';

/**
 * Payments to a till that has no connection. Everything here works offline: the contracts and the
 * balance are those that the wallet knew when it was last online.
 */

/** Why a request is not signed. */
export type RequestProblem =
  | NotRead
  | 'unknown_network'
  | 'other_network'
  | 'other_contracts'
  | 'expired'
  | 'valid_too_long'
  | 'wrong_sum'
  | 'higher_fees';

/** The service accepts no authorization that is valid for longer. */
const LONGEST_VALID_S = 72 * 3_600;
/** Tolerance, because the clocks of tills and phones differ. */
const CLOCKS_S = 600;
const BASIS_POINTS = 10_000n;
/** No contract charges more than this, in basis points. */
const HIGHEST_FEE_RATE = 300;

/** What the wallet knows about the selected network. */
export interface KnownNetwork {
  /** `null` if it has never been online there. */
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

/** Checks whom the signature would let take the money, and for how long. */
function contractProblem(
  request: OfflineRequest,
  { pin, former }: KnownNetwork,
): RequestProblem | null {
  if (pin === null) return 'unknown_network';
  if (pin.chainId !== request.chainId) return 'other_network';
  // A signature for another receiver would let that one take the money.
  return [pin, ...former].some((one) => isFor(one, request)) ? null : 'other_contracts';
}

function sumProblem({ amount, value }: OfflineRequest, pin: Pin | null): RequestProblem | null {
  if (amount <= 0n || amount > MAX_ATOMS || value <= 0n) return 'wrong_sum';
  const rate = pin?.feeRate ?? HIGHEST_FEE_RATE;
  return value > amount + (amount * BigInt(rate)) / BASIS_POINTS ? 'higher_fees' : null;
}

/** Reads the text that a till shows. @returns the request, or why it must not be signed. */
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
