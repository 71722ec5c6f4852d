import type { Refusal } from '#core/answer.ts';
import { assessPayment, type PaymentFacts } from '#payments/assess-payment.ts';
import { utcDay } from '#payments/offline/bounce-checks.ts';
import type { Candidate } from '#payments/offline/candidates.ts';
import type { CardDay, UnderWay } from '#payments/offline/offline-queries.ts';
import type { BounceReason } from '#payments/offline/states.ts';
import type { OfflineLimits } from '#terminals/offline-limits.ts';

/**
 * The decision about a sale. `later` accepts the sale, but its settlement job waits, for example
 * for room in the hourly ceiling.
 */
export type SaleVerdict = BounceReason | 'settle' | 'later' | 'rebuilt';

/** The sums against which limits are checked. They include earlier sales of the same request. */
export interface Sums {
  count: number;
  total: bigint;
  readonly cards: Map<string, bigint>;
  /** Number of sales per payer in this request. */
  readonly payers: Map<string, number>;
  /** Atoms of this request alone. */
  taken: bigint;
}

export function sumsOf({ count, total }: UnderWay, days: readonly CardDay[]): Sums {
  const cards = new Map(days.map((one) => [cardKey(one.address, one.day), one.total]));
  return { count, total, cards, payers: new Map(), taken: 0n };
}

function cardKey(address: string, day: Date): string {
  return `${address} ${day.getTime()}`;
}

/** The facts that decide a sale. */
export interface SaleFacts {
  readonly limits: OfflineLimits;
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
  const { sale, intent, payer, countedAt, rebuilt } = candidate;
  const { limits, sums, share } = facts;
  if (rebuilt !== null) return 'rebuilt';
  if (sale.termsProblem !== null) return sale.termsProblem;
  const problem = judgePayer(candidate, facts);
  if (problem !== null) return problem;
  const key = cardKey(payer.address, utcDay(countedAt));
  const ofCard = (sums.cards.get(key) ?? 0n) + intent.amount;
  const isAbove =
    intent.amount > BigInt(limits.per_payment) ||
    ofCard > BigInt(limits.per_card_per_day) ||
    sums.total + intent.amount > BigInt(limits.total) ||
    sums.count + 1 > limits.count;
  if (isAbove) return 'limit_exceeded';
  if (sale.verdict !== 'ok' && sale.verdict !== 'later') return sale.verdict;
  sums.count += 1;
  sums.total += intent.amount;
  sums.taken += intent.amount;
  sums.cards.set(key, ofCard);
  sums.payers.set(payer.id, (sums.payers.get(payer.id) ?? 0) + 1);
  return sale.verdict === 'later' || share(sums.taken) !== null ? 'later' : 'settle';
}
