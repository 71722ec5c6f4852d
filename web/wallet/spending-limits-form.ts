import type { Wallet } from '../data/payer-api.ts';
import { formatUsdc } from '../ui/format-usdc.ts';
import { t } from '../ui/text/t.ts';
import { readSum, sumIn, writeSum } from '../ui/typed-sum.ts';
import type { Terms } from './sign-permit-and-transfer.ts';
import { sumProblem } from './sum-problems.ts';

export interface TypedTerms {
  readonly perPayment: string;
  readonly perDay: string;
  readonly total: string;
  readonly days: number;
}

export type TermField = 'perPayment' | 'perDay' | 'total';
export type TermProblems = { readonly [field in TermField]?: string };

export const PERIODS = [
  { days: 30, words: 'wallet.valid_for.thirty_days' },
  { days: 90, words: 'wallet.valid_for.three_months' },
  { days: 365, words: 'wallet.valid_for.year' },
] as const;

/** Defaults: a typical day's spending, and an amount that a lost card may cost. */
export const USUAL_TERMS: TypedTerms = {
  perPayment: '50.00',
  perDay: '200.00',
  total: '1,000.00',
  days: 90,
};

/**
 * Returns the form's initial values: from the current policy, from the policy at the previous
 * contract, or the defaults.
 */
export function presentTerms(wallet: Wallet): TypedTerms {
  const { policy, allowance } = wallet.policy === null ? (wallet.former ?? wallet) : wallet;
  if (policy === null) return USUAL_TERMS;
  return {
    ...USUAL_TERMS,
    perPayment: writeSum(BigInt(policy.per_payment)),
    perDay: writeSum(BigInt(policy.per_period)),
    ...(allowance === 0 ? {} : { total: writeSum(BigInt(allowance)) }),
  };
}

const DAY_SECONDS = 86_400;
/** Margin for a small fee increase. Beyond it, the user must agree again. */
const FEE_ROOM_BASIS_POINTS = 100;

export interface ReadTerms {
  readonly terms: Terms;
  /** The allowance in atoms, fees included. */
  readonly total: bigint;
}

function sumOf(text: string): bigint | string {
  const sum = readSum(text);
  return (
    sumProblem(sum) ?? sumIn(sum) ?? t('wallet.problem.amount', { example: writeSum(20_000_000n) })
  );
}

/** Returns the highest fee that the user agrees to, in basis points. */
export function feeCeiling({ fee_rates: rates }: Wallet): number {
  return Math.max(FEE_ROOM_BASIS_POINTS, rates.acquirer + rates.protocol);
}

/** Reads the terms. @param nowMs By the service's clock. */
export function readTerms(
  typed: TypedTerms,
  wallet: Wallet,
  nowMs: number,
): ReadTerms | TermProblems {
  const sums = {
    perPayment: sumOf(typed.perPayment),
    perDay: sumOf(typed.perDay),
    total: sumOf(typed.total),
  };
  const { perPayment, perDay, total } = sums;
  if (typeof perPayment === 'string' || typeof perDay === 'string' || typeof total === 'string') {
    const wrong = Object.entries(sums).filter(([, sum]) => typeof sum === 'string');
    return Object.fromEntries(wrong) as TermProblems;
  }
  if (perDay < perPayment)
    return { perDay: t('wallet.allow.problem.below_per_payment', { sum: formatUsdc(perPayment) }) };
  const maxFeeRate = feeCeiling(wallet);
  const dearest = perPayment + (perPayment * BigInt(maxFeeRate)) / 10_000n;
  if (total < dearest)
    return { total: t('wallet.allow.problem.below_dearest', { sum: formatUsdc(dearest) }) };
  return {
    total,
    terms: {
      perPayment,
      perPeriod: perDay,
      periodSeconds: DAY_SECONDS,
      expiresAt: Math.floor(nowMs / 1000) + typed.days * DAY_SECONDS,
      maxFeeRate,
    },
  };
}

export function isRead(read: ReadTerms | TermProblems): read is ReadTerms {
  return 'terms' in read;
}
