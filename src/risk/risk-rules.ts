import type { Atoms } from '#core/money.ts';
import type { RiskSettings } from '#risk/risk-settings.ts';

/** The names of the rules. Each is also a `reason_code` (behavior.md 12.2). */
export const RISK_RULES = [
  'BLOCKED_PAYER',
  'VELOCITY',
  'FIRST_MERCHANT_PAYMENT',
  'HIGH_AMOUNT',
  'STATIC_PASS',
  'REFUSED_OFTEN',
] as const;

export type RiskRule = (typeof RISK_RULES)[number];

/** The network's terms for passes that can be copied: when their payers must confirm. */
export interface StaticPassTerms {
  readonly confirmFrom: Atoms;
  /** True to require confirmation for the first payment at a merchant as well, for any amount. */
  readonly asksFirst: boolean;
}

/**
 * The facts that the rules check, read while holding the payer's lock, so that concurrent taps
 * cannot exceed a limit.
 */
export interface RiskFacts {
  readonly settings: RiskSettings;
  readonly amount: Atoms;
  /** True if the account has blocked this wallet. */
  readonly blockedHere: boolean;
  /** True if the payer has a settled payment at this account. */
  readonly paidHereBefore: boolean;
  /** Payments settled within the last hour, or in progress, at this account. */
  readonly paymentsWithinHour: number;
  /** True if the payer chose to confirm each first payment at a merchant, for any amount. */
  readonly payerConfirmsFirst: boolean;
  /**
   * When the payer must confirm because the pass can be copied; `null` for a pass that cannot be.
   */
  readonly copied: StaticPassTerms | null;
  /** Rejections within the last hour at the account: by this payer, and by all payers. */
  readonly refusals: { readonly ofPayer: number; readonly ofAll: number };
}

/**
 * Rejections within an hour, without an approval, after which the merchant may not ask this payer
 * again; the second limit covers all payers. Without limits, a merchant could ask until a payer
 * approves by mistake.
 */
const MAX_REFUSALS = 10;
const MAX_REFUSALS_OF_ALL = 50;

export type RiskVerdict =
  | { readonly kind: 'allow' }
  | { readonly kind: 'confirm'; readonly rule: RiskRule }
  | { readonly kind: 'block'; readonly rule: RiskRule };

type Answer = RiskVerdict['kind'];

function reaches(amount: Atoms, limit: Atoms | null): boolean {
  return limit !== null && amount >= limit;
}

export function blockedPayer(facts: RiskFacts): Answer {
  return facts.blockedHere ? 'block' : 'allow';
}

export function velocity({ settings, paymentsWithinHour }: RiskFacts): Answer {
  const limit = settings.velocityPerHour;
  return limit !== null && paymentsWithinHour >= limit ? 'block' : 'allow';
}

export function firstMerchantPayment(facts: RiskFacts): Answer {
  if (facts.paidHereBefore) return 'allow';
  const mustConfirm =
    facts.payerConfirmsFirst || reaches(facts.amount, facts.settings.firstPaymentConfirmFrom);
  return mustConfirm ? 'confirm' : 'allow';
}

export function highAmount({ settings, amount }: RiskFacts): Answer {
  return reaches(amount, settings.highAmountConfirmFrom) ? 'confirm' : 'allow';
}

/** Decides by the network's rule, which does not depend on the account. */
export function staticPass({ copied, amount, paidHereBefore }: RiskFacts): Answer {
  if (copied === null) return 'allow';
  const isFirst = copied.asksFirst && !paidHereBefore;
  return isFirst || amount >= copied.confirmFrom ? 'confirm' : 'allow';
}

/**
 * Blocking rules come first, so that payers are never asked to confirm a payment that would be
 * declined anyway.
 */
const RULES: readonly (readonly [RiskRule, (facts: RiskFacts) => Answer])[] = [
  ['BLOCKED_PAYER', blockedPayer],
  ['VELOCITY', velocity],
  ['FIRST_MERCHANT_PAYMENT', firstMerchantPayment],
  ['HIGH_AMOUNT', highAmount],
  ['STATIC_PASS', staticPass],
];

/** True if too many rejections forbid asking the payer for confirmation. */
export function isRefusedOften({ refusals }: Pick<RiskFacts, 'refusals'>): boolean {
  return refusals.ofPayer >= MAX_REFUSALS || refusals.ofAll >= MAX_REFUSALS_OF_ALL;
}

/** Returns the verdict of the first rule that applies; otherwise, allows the payment. */
export function assessRisk(facts: RiskFacts): RiskVerdict {
  for (const [rule, decide] of RULES) {
    const kind = decide(facts);
    if (kind === 'confirm' && isRefusedOften(facts))
      return { kind: 'block', rule: 'REFUSED_OFTEN' };
    if (kind !== 'allow') return { kind, rule };
  }
  return { kind: 'allow' };
}
