import { formatUsdc, nearestCent } from './money.ts';
import { t } from './text/t.ts';
import { readSum, type TypedSum } from './typed-sum.ts';

/** A smaller remainder is shown as `< 0.01`, which cannot be typed. */
const LEAST_REST = 10_000n;

export interface RefundSum {
  readonly sum: TypedSum;
  /** The amount to refund, or `null` if it is invalid. */
  readonly atoms: bigint | null;
  /** The problem with an amount that could be parsed. */
  readonly problem: string | null;
  /** The remainder of the payment if it is too small to refund later, else `null`. */
  readonly crumb: bigint | null;
}

/**
 * The amount of a refund. Users see the refundable amount rounded to cents, so typing that means
 * all of it. Every other amount is exact.
 *
 * @param wrote The amount that the form wrote into the field.
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
