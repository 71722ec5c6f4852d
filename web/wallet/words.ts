import { ApiFailure } from '../data/api.ts';
import { MAX_ATOMS } from '../ui/money.ts';
import type { TypedSum } from '../ui/typed-sum.ts';
import { PasskeyError } from './passkey.ts';
import { SHORTEST_PASSWORD, WrongOpener } from './vault.ts';

/** Sentences that several screens say. Names that scripts rely on: behavior.md 21. */
export const WORDS = {
  wrongPassword: 'That is not the password of this wallet.',
  shortPassword: `Use at least ${SHORTEST_PASSWORD} characters.`,
  differentPasswords: 'The two passwords don’t match.',
  passkeyRefused: 'The passkey was not used. Try again.',
  passkeyWithoutSecret: 'This device’s passkeys cannot store a wallet. Choose a password instead.',
  privateKeyInvalid: 'A private key is 64 digits of 0–9 and a–f.',
  amountInvalid: 'Enter an amount such as 20.00.',
  amountTooLarge: 'At most 1,000,000.00 USDC.',
  otherContracts:
    'The service names different contracts or higher fees than this wallet knows, so nothing was ' +
    'signed. Your money has not moved.',
  insecureTitle: 'A wallet needs a secure connection',
  insecure:
    'This page was opened without https, so the browser stores no secrets for it. Open the ' +
    'wallet at its https address.',
} as const;

/** Why a sum that was typed cannot be used; null: it can. */
export function sumProblem(sum: TypedSum): string | null {
  if (sum.is === 'refused') return sum.words;
  if (sum.is === 'empty') return WORDS.amountInvalid;
  return sum.units > MAX_ATOMS ? WORDS.amountTooLarge : null;
}

/** What to tell a person of something that was thrown. */
export function problemOf(error: unknown): string {
  if (error instanceof WrongOpener) return WORDS.wrongPassword;
  if (error instanceof PasskeyError) {
    return error.reason === 'refused' ? WORDS.passkeyRefused : WORDS.passkeyWithoutSecret;
  }
  // By their names: what pins, and what approves, is loaded when somebody signs.
  if (error instanceof Error && error.name === 'OtherContracts') return WORDS.otherContracts;
  if (error instanceof Error && error.name === 'NotApproved') return error.message;
  if (error instanceof ApiFailure) return error.message;
  return 'Something went wrong here. Reload the page and try again.';
}
