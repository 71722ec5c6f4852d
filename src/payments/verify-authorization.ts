import { hashTypedData } from 'viem';
import { type Refusal, refuse } from '#core/answer.ts';
import { present } from '#core/assert.ts';
import type { Database } from '#db/database.ts';
import type { PayLink } from '#payments/pay-link.ts';
import { countSignatureFailure, type PayTerms } from '#payments/pay-link-queries.ts';
import { messageOf, termsAfter } from '#payments/pay-message.ts';
import { refusalOf } from '#settlement/chain/check-signature.ts';
import { type Deployment, verifySignature } from '#settlement/chain/verify-signature.ts';
import type { Hex } from '#settlement/requests.ts';

/** Answers of a wallet whose terms it may still be signing: the latest ones. */
const KEPT_ANSWERS = 3;

/** Returns all terms that a wallet may recently have been asked to sign, newest first. */
export function askedTerms({ terms, answers }: PayLink, address: Hex): PayTerms[] {
  const since = Math.max(0, answers - KEPT_ANSWERS);
  const counts = Array.from({ length: answers - since + 1 }, (_, back) => answers - back);
  return terms
    .toReversed()
    .flatMap((one) => counts.map((count) => termsAfter(one, { address, answers: count })));
}

/** The terms that the wallet has signed, and the signature in the form that the token accepts. */
export interface VerifiedAuthorization {
  readonly terms: PayTerms;
  readonly signature: Hex;
}

/**
 * Finds which of the requested terms the wallet has signed.
 * @returns the deployment of a wallet that must be deployed first.
 */
export async function verifyAuthorization(
  db: Database,
  link: PayLink,
  asked: { readonly from: Hex; readonly signature: Hex },
): Promise<VerifiedAuthorization | { readonly deployment: Deployment } | Refusal> {
  const { from: signer, signature } = asked;
  const newestFirst = askedTerms(link, signer);
  const digests = newestFirst.map((terms) => hashTypedData(messageOf(link, terms, signer)));
  const signed = { signer, digests, signature, by: 'token' } as const;
  const verdict = await verifySignature(link.chain, signed);
  if (verdict.status === 'valid') {
    const terms = present(newestFirst[verdict.index], 'terms of a signature');
    return { terms, signature: verdict.signature };
  }
  if (verdict.status === 'invalid') return signatureFailed(db, link.intent.id);
  if (verdict.status === 'not_deployed' && verdict.deployment !== null) {
    return { deployment: verdict.deployment };
  }
  return refusalOf(verdict, NOT_SIGNED);
}

/** Counts a signature that did not verify. */
export async function signatureFailed(db: Database, intentId: string): Promise<Refusal> {
  if (await countSignatureFailure(db, intentId)) return tooManyFailures();
  return refuse(NOT_SIGNED.code, NOT_SIGNED.message, NOT_SIGNED.param);
}

export const NOT_SIGNED = {
  code: 'signature_invalid',
  message:
    'This wallet did not sign this payment. Nothing was charged. Ask for ' +
    '`typed_data` again and sign exactly that.',
  param: 'signature',
} as const;

function tooManyFailures(): Refusal {
  return {
    ...refuse(
      'rate_limit_exceeded',
      'More than 10 signatures for this link did not verify within a minute. Wait a minute.',
    ),
    headers: { 'Retry-After': '60' },
  };
}
