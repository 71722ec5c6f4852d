import { formatUsdc, MAX_ATOMS } from '../ui/format-usdc.ts';
import { t } from '../ui/text/t.ts';
import { type TypedSum, writeSum } from '../ui/typed-sum.ts';

/** Describes the problem with a typed amount, or returns `null`. */
export function sumProblem(sum: TypedSum): string | null {
  if (sum.is === 'refused') return sum.words;
  if (sum.is === 'empty') return t('wallet.problem.amount', { example: writeSum(20_000_000n) });
  return limitProblem(sum);
}

/** An empty field is no limit. */
export function limitProblem(sum: TypedSum): string | null {
  if (sum.is === 'refused') return sum.words;
  return sum.is === 'sum' && sum.units > MAX_ATOMS
    ? t('wallet.problem.amount_too_large', { sum: formatUsdc(MAX_ATOMS) })
    : null;
}

/** Returns a typed limit: `null` for no limit, `undefined` for invalid input. */
export function limitIn(sum: TypedSum): number | null | undefined {
  if (limitProblem(sum) !== null) return undefined;
  return sum.is === 'sum' ? Number(sum.units) : null;
}
