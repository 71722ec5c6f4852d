import { hashTypedData, recoverAddress } from 'viem';
import type { Hex } from './bytes.ts';
import {
  type NotRead,
  nonceCheckOf,
  type OfflineAnswer,
  type OfflineRequest,
  offlineMessage,
  offlineNonce,
  readAnswer,
} from './offline-request.ts';

/** Checks answers to offline requests. Loaded on demand, because it needs the curve. */

/** Half of secp256k1's order: the token refuses signatures with a higher s (EIP-2). */
const HIGHEST_S = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n;

/**
 * The reason why an answer does not pay the request. `other_terms`: the validity period differs
 * from the request's.
 */
export type WrongAnswer = NotRead | 'other_sale' | 'other_terms' | 'not_signed';

/** Returns the digest that a wallet or a chip with this address signs for the request. */
export function digestOf(request: OfflineRequest, from: Hex): Hex {
  return hashTypedData(offlineMessage(request, from));
}

/** Normalizes v for the token: some wallets write 0 or 1 for 27 or 28. */
function normalSignature(signature: Hex): Hex {
  const v = Number.parseInt(signature.slice(130), 16);
  return `${signature.slice(0, 130)}${(v < 27 ? v + 27 : v).toString(16)}` as Hex;
}

async function isSigned(request: OfflineRequest, { from, signature }: OfflineAnswer) {
  if (BigInt(`0x${signature.slice(66, 130)}`) > HIGHEST_S) return false;
  try {
    const signer = await recoverAddress({ hash: digestOf(request, from), signature });
    return signer.toLowerCase() === from.toLowerCase();
  } catch {
    return false; // The numbers are not a signature.
  }
}

/**
 * Verifies a wallet's answer: the key of `from` must have signed exactly this request.
 * @returns the answer in the format that the service accepts, or the reason why it does not pay.
 */
export async function verifyAnswer(
  request: OfflineRequest,
  text: string,
): Promise<OfflineAnswer | WrongAnswer> {
  const read = readAnswer(text);
  if (typeof read === 'string') return read;
  if (read.nonceCheck !== nonceCheckOf(offlineNonce(request))) return 'other_sale';
  const { validAfter, validBefore } = read;
  if (validAfter !== 0 || validBefore !== request.validBefore) return 'other_terms';
  const answer = { ...read, signature: normalSignature(read.signature) };
  return (await isSigned(request, answer)) ? answer : 'not_signed';
}
