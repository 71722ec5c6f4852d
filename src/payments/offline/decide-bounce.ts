import type { Refusal } from '#core/answer.ts';
import { chargesOf } from '#core/charges.ts';
import { addSeconds } from '#core/clock.ts';
import { SECOND_MS } from '#core/durations.ts';
import { addSums, countedSum, isAboveLimit, NO_SUM, type OfflineSum } from '#core/offline-sums.ts';
import { assessPayment, type PaymentFacts } from '#payments/assess-payment.ts';
import type { CardDay, UnderWay } from '#payments/offline/offline-queries.ts';
import type { Candidate } from '#payments/offline/offline-sale-candidates.ts';
import type { BounceReason } from '#payments/offline/offline-states.ts';
import {
  type ChainVerdict,
  LONGEST_VALID_MS,
  type OfflineRates,
  type Signed,
  utcDay,
} from '#payments/offline/signed-sale.ts';
import type { Chain } from '#settlement/chain/chain.ts';
import type { CheckResult } from '#settlement/chain/check/check-payment.ts';
import { judgeOffline, offlineNonce } from '#settlement/chain/check/offline-authorization.ts';
import {
  type AuthorizedPayment,
  checkAuthorization,
} from '#settlement/chain/check/simulate-authorization.ts';
import { isAuthorizationUsed } from '#settlement/chain/read/payer-balance.ts';
import { isTokenStopped } from '#settlement/chain/read/token-paused.ts';
import { RpcUnavailable } from '#settlement/chain/rpc/rpc.ts';
import { contractOf } from '#settlement/contract-versions.ts';
import { limitOf, type TillLimits } from '#terminals/offline-limits.ts';

/**
 * The decision about a sale. `later` accepts the sale, but its settlement job waits, for example
 * for room in the hourly ceiling. `undecided`: the intent that it replaces is still `processing`,
 * so nothing is stored and the till forwards the sale again.
 */
export type SaleVerdict = BounceReason | 'settle' | 'later' | 'rebuilt' | 'undecided';

/** The sums against which limits are checked. They include earlier sales of the same request. */
export interface Sums {
  count: number;
  total: OfflineSum;
  readonly cards: Map<string, OfflineSum>;
  /** Number of sales per payer in this request. */
  readonly payers: Map<string, number>;
  /** Atoms of this request alone. */
  taken: bigint;
}

export function sumsOf({ count, ...total }: UnderWay, days: readonly CardDay[]): Sums {
  const cards = new Map(days.map((one) => [cardKey(one.address, one.day), one]));
  return { count, total, cards, payers: new Map(), taken: 0n };
}

function cardKey(address: string, day: Date): string {
  return `${address} ${day.getTime()}`;
}

export interface SaleFacts {
  readonly limits: TillLimits;
  readonly sums: Sums;
  readonly risk: Pick<PaymentFacts, 'settings' | 'activity'>;
  /**
   * Returns the refusal if settling this many more atoms exceeds the account's share of this hour.
   */
  readonly share: (atoms: bigint) => Refusal | null;
}

/**
 * Returns the reason if a block, a risk rule or a chip's limit forbids the sale; otherwise `null`.
 */
function judgePayer(
  { intent, payer, chip }: Candidate,
  { sums, risk }: SaleFacts,
): 'blocked' | 'limit_exceeded' | null {
  const { settings, activity } = risk;
  const mine = sums.payers.get(payer.id) ?? 0;
  const assessed = assessPayment({
    intent,
    amount: intent.amount,
    payer,
    credentialProblem: null,
    card: null,
    chip,
    copied: null,
    // The caller checks the chain's verdict later, after the limits.
    preflight: { ok: true },
    settings,
    activity: { ...activity, under_way_here: activity.under_way_here + mine },
    // The signature counts as the payer's confirmation, so no rule may ask for one.
    isSigned: true,
  });
  if (assessed.kind !== 'decline') return null;
  return assessed.decline === 'limit_exceeded' ? 'limit_exceeded' : 'blocked';
}

/** Decides one sale, and adds it to the sums if it is accepted. */
export function decideSale(candidate: Candidate, facts: SaleFacts): SaleVerdict {
  const { sale, intent, payer, countedAt, rebuilt, replaced } = candidate;
  const { limits, sums, share } = facts;
  if (rebuilt !== null) return 'rebuilt';
  if (replaced?.status === 'succeeded') return 'already_paid';
  if (replaced?.status === 'processing') return 'undecided';
  if (sale.termsProblem !== null) return sale.termsProblem;
  const problem = judgePayer(candidate, facts);
  if (problem !== null) return problem;
  const key = cardKey(payer.address, utcDay(countedAt));
  const counted = countedSum(
    { amount: intent.amount, presentment: sale.quote },
    limits.presentment?.currency ?? null,
  );
  const ofCard = addSums(sums.cards.get(key) ?? NO_SUM, counted);
  const total = addSums(sums.total, counted);
  const isAbove =
    isAboveLimit(counted, limitOf(limits, 'per_payment')) ||
    (limits.cap !== null && intent.amount > BigInt(limits.cap)) ||
    isAboveLimit(ofCard, limitOf(limits, 'per_card_per_day')) ||
    isAboveLimit(total, limitOf(limits, 'total')) ||
    sums.count + 1 > limits.count;
  if (isAbove) return 'limit_exceeded';
  if (sale.verdict !== 'ok' && sale.verdict !== 'later') return sale.verdict;
  sums.count += 1;
  sums.total = total;
  sums.taken += intent.amount;
  sums.cards.set(key, ofCard);
  sums.payers.set(payer.id, (sums.payers.get(payer.id) ?? 0) + 1);
  return sale.verdict === 'later' || share(sums.taken) !== null ? 'later' : 'settle';
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

/** Asks the chain whether the contract and the token would accept the payment now. */
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
        if (!isRefused(await checkAuthorization(chain, authorized))) return 'later';
        return await judgeWallet(chain, authorized);
    }
  } catch (error) {
    if (error instanceof RpcUnavailable) return 'unavailable';
    throw error;
  }
}

/**
 * Distinguishes a wallet that delegated to a contract after it signed (EIP-7702), and whose
 * contract refuses the signature, from an authorization that no wallet could pay with.
 */
async function judgeWallet(chain: Chain, authorized: AuthorizedPayment): Promise<ChainVerdict> {
  const { payment, authorization, rates } = authorized;
  const value = chargesOf(payment.amount, rates).pulled;
  const { status } = await judgeOffline(chain, { ...payment, ...authorization, value });
  if (status === 'unavailable') return status;
  if (status === 'delegate_refuses') return 'wallet_refuses';
  // Checks once more, because a bounce is final: the delegation may have ended between the checks.
  return isRefused(await checkAuthorization(chain, authorized)) ? 'authorization_invalid' : 'later';
}

function isRefused(result: CheckResult): boolean {
  return result.status === 'declined' && result.reason === 'authorization_refused';
}
