import type { Atoms } from '#core/money.ts';
import type { RiskSettings } from '#risk/settings.ts';

/** Names of the rules; each is also a `reason_code` (behavior.md 12.2). */
export const RISK_RULES = [
  'BLOCKED_PAYER',
  'VELOCITY',
  'FIRST_MERCHANT_PAYMENT',
  'HIGH_AMOUNT',
  'STATIC_PASS',
  'REFUSED_OFTEN',
] as const;

export type RiskRule = (typeof RISK_RULES)[number];

/** The network's rule: when a pass that can be copied needs its payer's yes. */
export interface StaticPassTerms {
  readonly confirmFrom: Atoms;
  /** At the first payment at a merchant too, whatever its amount. */
  readonly asksFirst: boolean;
}

/** What the rules look at. Read under the payer's lock, so that taps cannot race past a count. */
export interface RiskFacts {
  readonly settings: RiskSettings;
  readonly amount: Atoms;
  /** The account has this wallet on its list. */
  readonly blockedHere: boolean;
  /** The payer has a settled payment at this account. */
  readonly paidHereBefore: boolean;
  /** Settled within the last hour or on their way, at this account. */
  readonly paymentsWithinHour: number;
  /** The payer's own wish to confirm each first payment at a merchant, whatever its amount. */
  readonly payerConfirmsFirst: boolean;
  /** When the network asks, because whoever reads this pass can copy it; null: nobody can. */
  readonly copied: StaticPassTerms | null;
  /** How often this payer has said no to the account within the hour, and how often all have. */
  readonly refusals: { readonly ofPayer: number; readonly ofAll: number };
}

/**
 * So often may a payer say no to a merchant within an hour, without a yes between, before the
 * merchant may not ask again; and all payers together. Who asks until a thumb slips gets nothing.
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
  const asked =
    facts.payerConfirmsFirst || reaches(facts.amount, facts.settings.firstPaymentConfirmFrom);
  return asked ? 'confirm' : 'allow';
}

export function highAmount({ settings, amount }: RiskFacts): Answer {
  return reaches(amount, settings.highAmountConfirmFrom) ? 'confirm' : 'allow';
}

/** A rule of the network, not of an account. */
export function staticPass({ copied, amount, paidHereBefore }: RiskFacts): Answer {
  if (copied === null) return 'allow';
  const isFirst = copied.asksFirst && !paidHereBefore;
  return isFirst || amount >= copied.confirmFrom ? 'confirm' : 'allow';
}

/** Those that block come first: nobody is asked to confirm what would be refused anyway. */
const RULES: readonly (readonly [RiskRule, (facts: RiskFacts) => Answer])[] = [
  ['BLOCKED_PAYER', blockedPayer],
  ['VELOCITY', velocity],
  ['FIRST_MERCHANT_PAYMENT', firstMerchantPayment],
  ['HIGH_AMOUNT', highAmount],
  ['STATIC_PASS', staticPass],
];

/** Whether the payer may not be asked, whatever for. */
export function isRefusedOften({ refusals }: Pick<RiskFacts, 'refusals'>): boolean {
  return refusals.ofPayer >= MAX_REFUSALS || refusals.ofAll >= MAX_REFUSALS_OF_ALL;
}

/** The first rule that does not allow the payment decides. */
export function assessRisk(facts: RiskFacts): RiskVerdict {
  for (const [rule, decide] of RULES) {
    const kind = decide(facts);
    if (kind === 'confirm' && isRefusedOften(facts))
      return { kind: 'block', rule: 'REFUSED_OFTEN' };
    if (kind !== 'allow') return { kind, rule };
  }
  return { kind: 'allow' };
}
