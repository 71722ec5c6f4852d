import { ApiFailure } from '../data/api.ts';
import { formatUsdc, MAX_ATOMS } from '../ui/format-usdc.ts';
import { t } from '../ui/text/t.ts';
import { type TypedSum, writeSum } from '../ui/typed-sum.ts';
import { WrongOpener } from './key-vault.ts';
import { PasskeyError } from './passkey-secret.ts';

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

/** Returns the message to show for a thrown error. */
export function problemOf(error: unknown): string {
  if (error instanceof WrongOpener) return t('wallet.problem.password_wrong');
  if (error instanceof PasskeyError) {
    return error.reason === 'refused'
      ? t('wallet.problem.passkey_refused')
      : t('wallet.problem.passkey_without_secret');
  }
  // Compares names, because the modules that define these errors load only when the user signs.
  if (error instanceof Error && error.name === 'OtherContracts')
    return t('wallet.problem.other_contracts');
  if (error instanceof Error && error.name === 'NotApproved') return error.message;
  if (error instanceof ApiFailure) return error.message;
  return t('wallet.problem.other');
}
