import { hashTypedData } from 'viem';
import { type Refusal, refuse } from '#core/answer.ts';
import type { Database } from '#db/database.ts';
import { serviceUnavailable } from '#payments/check-on-chain.ts';
import type { PayLink } from '#payments/pay-link.ts';
import { countSignatureFailure, type PayTerms } from '#payments/pay-link-queries.ts';
import { messageOf, termsAfter } from '#payments/pay-message.ts';
import { verifySignature } from '#settlement/chain/verify-signature.ts';
import type { Hex } from '#settlement/requests.ts';

/** Answers of a wallet whose terms it may still be signing: the latest ones. */
const KEPT_ANSWERS = 3;

/** Returns all terms that a wallet may recently have been asked to sign, newest first. */
function askedTerms({ terms, answers }: PayLink, address: Hex): PayTerms[] {
  const since = Math.max(0, answers - KEPT_ANSWERS);
  const counts = Array.from({ length: answers - since + 1 }, (_, back) => answers - back);
  return terms
    .toReversed()
    .flatMap((one) => counts.map((count) => termsAfter(one, { address, answers: count })));
}

/** Finds which of the requested terms the wallet has signed. */
export async function verifyAuthorization(
  db: Database,
  link: PayLink,
  asked: { readonly from: Hex; readonly signature: Hex },
): Promise<PayTerms | Refusal> {
  const { from: signer, signature } = asked;
  const newestFirst = askedTerms(link, signer);
  const digests = newestFirst.map((terms) => hashTypedData(messageOf(link, terms, signer)));
  const verdict = await verifySignature(link.chain, { signer, digests, signature });
  switch (verdict.status) {
    case 'valid':
      return newestFirst[verdict.index] ?? signatureInvalid();
    case 'unavailable':
      return serviceUnavailable();
    case 'not_deployed':
      return refuse(
        'wallet_not_deployed',
        'This wallet is a contract that is not on the chain yet, so its signature cannot be ' +
          'checked. Send something from it first, or pay with another wallet.',
        'from',
      );
    case 'invalid':
      return (await countSignatureFailure(db, link.intent.id))
        ? tooManyFailures()
        : signatureInvalid();
  }
}

function signatureInvalid(): Refusal {
  return refuse(
    'signature_invalid',
    'This wallet did not sign this payment. Nothing was charged. Ask for ' +
      '`typed_data` again and sign exactly that.',
    'signature',
  );
}

function tooManyFailures(): Refusal {
  return {
    ...refuse(
      'rate_limit_exceeded',
      'More than 10 signatures for this link did not verify within a minute. Wait a minute.',
    ),
    headers: { 'Retry-After': '60' },
  };
}
