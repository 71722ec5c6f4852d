import { hexToBytes } from 'viem';
import { publicKeyToAddress } from 'viem/accounts';
import { answerTo, writeAnswer } from '../../data/offline-request.ts';
import { digestOf } from '../../data/offline-signature.ts';
import type { Chip } from '../reader/chip-commands.ts';
import { type AskPin, type Signed, signDigest } from '../reader/sign-by-chip.ts';
import type { Asking, Slip } from '../till-phases.ts';
import { problemWords } from './bounce-words.ts';
import type { OfflineTill } from './offline-till.ts';

export interface OfflineSigning {
  readonly till: OfflineTill;
  readonly asked: Asking;
  readonly chip: Chip;
  readonly askPin: AskPin;
}

type NotSigned = Exclude<Signed, { readonly is: 'signed' }>;

/** Has a chip sign an offline sale, unless the chip may not pay it. */
export async function signOffline(
  { till, asked, chip, askPin }: OfflineSigning,
  until: AbortSignal,
): Promise<Slip | NotSigned> {
  const { request } = asked;
  const from = publicKeyToAddress(`0x${chip.publicKey}`);
  const problem = await till.refuses(asked, from);
  if (problem !== null) return { is: 'not_signed', message: problemWords(problem) };
  const digest = hexToBytes(digestOf(request, from));
  const signed = await signDigest({ chip, digest, askPin }, until);
  if (signed.is !== 'signed') return signed;
  const accepted = await till.accept(asked, writeAnswer(answerTo(request, signed.signed), request));
  if (typeof accepted === 'string' || 'is' in accepted) {
    return { is: 'not_signed', message: problemWords(accepted) };
  }
  return accepted;
}
