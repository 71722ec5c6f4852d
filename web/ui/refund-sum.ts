import { formatUsdc, nearestCent } from './money.ts';
import { t } from './text/t.ts';
import { readSum, type TypedSum } from './typed-sum.ts';

/** A smaller rest is shown as `< 0.01`, which cannot be typed. */
const LEAST_REST = 10_000n;

export interface RefundSum {
  readonly sum: TypedSum;
  /** What is refunded; null: nothing that can be. */
  readonly atoms: bigint | null;
  /** What is wrong with a sum that can be read. */
  readonly problem: string | null;
  /** What would be left of the payment, where that is too little to refund later; else null. */
  readonly crumb: bigint | null;
}

/**
 * The sum of a refund. People see the rest of a payment rounded to cents: who types that means all
 * of it. Every other sum is exact.
 *
 * @param wrote What the form wrote into the field.
 */
export function readRefund(
  text: string,
  { left, wrote }: { readonly left: bigint; readonly wrote: bigint },
): RefundSum {
  const sum = readSum(text, { wrote });
  const none = { sum, atoms: null, crumb: null };
  if (sum.is !== 'sum') return { ...none, problem: null };
  const isShownRest = !sum.isWritten && sum.units === nearestCent(left);
  const atoms = isShownRest ? left : sum.units;
  if (atoms > left)
    return { ...none, problem: t('ui.refund_sum.at_most', { sum: formatUsdc(left) }) };
  const rest = left - atoms;
  return { sum, atoms, problem: null, crumb: rest > 0n && rest < LEAST_REST ? rest : null };
}
