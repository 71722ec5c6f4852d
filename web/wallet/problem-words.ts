import { ApiFailure } from '../data/api.ts';
import { t } from '../ui/text/t.ts';
import { WrongOpener } from './key-vault.ts';
import { PasskeyError } from './passkey-secret.ts';

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
