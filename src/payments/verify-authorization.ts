import { hashTypedData } from 'viem';
import { type Refusal, refuse } from '#core/answer.ts';
import { present } from '#core/assert.ts';
import { tenantOf } from '#core/mode.ts';
import type { Database } from '#db/database.ts';
import { notNow } from '#payments/ask-chain-before-locking.ts';
import type { Decline } from '#payments/decline-codes.ts';
import type { PayLink } from '#payments/pay-link.ts';
import { countSignatureFailure, type PayTerms } from '#payments/pay-link-queries.ts';
import { messageOf, ratesOf, sumOf, termsAfter } from '#payments/pay-message.ts';
import type { Preflight } from '#payments/pay-request.ts';
import { refusalOf, verifyDeployable } from '#settlement/chain/check/signature-refusals.ts';
import { type Deployment, verifySignature } from '#settlement/chain/check/verify-signature.ts';
import type { Hex } from '#settlement/chain-requests.ts';

/**
 * Number of earlier responses whose terms are still accepted, because a wallet may be signing older
 * terms.
 */
const KEPT_ANSWERS = 3;

/** Returns all terms that this wallet may be signing, newest first. */
function askedTerms({ terms, answers }: PayLink, address: Hex): PayTerms[] {
  const since = Math.max(0, answers - KEPT_ANSWERS);
  const counts = Array.from({ length: answers - since + 1 }, (_, back) => answers - back);
  return terms
    .toReversed()
    .flatMap((one) => counts.map((count) => termsAfter(one, { address, answers: count })));
}

export interface VerifiedAuthorization {
  readonly terms: PayTerms;
  readonly signature: Hex;
  /** Set if the wallet must be deployed first (ERC-6492), by one of the listed factories. */
  readonly deployment: Deployment | null;
  /** True if the wallet's code confirmed the signature, which may say otherwise in a block. */
  readonly byCode: boolean;
}

interface Presented {
  readonly from: Hex;
  readonly signature: Hex;
  /** True if the wallet may be deployed, and its deployment simulated; false at tills. */
  readonly deploys: boolean;
}

/** Finds the terms that the wallet has signed, among those that it may be signing. */
export async function verifyAuthorization(
  db: Database,
  link: PayLink,
  { from: signer, signature, deploys }: Presented,
): Promise<VerifiedAuthorization | Refusal> {
  const newestFirst = askedTerms(link, signer);
  const digests = newestFirst.map((terms) => hashTypedData(messageOf(link, terms, signer)));
  const signed = { signer, digests, signature, by: 'token' } as const;
  const { verdict, deployment } = deploys
    ? await verifyDeployable(link.chain, signed)
    : { verdict: await verifySignature(link.chain, signed), deployment: null };
  if (verdict.status === 'valid') {
    const terms = present(newestFirst[verdict.index], 'terms of a signature');
    return { terms, signature: verdict.signature, deployment, byCode: verdict.byCode };
  }
  if (verdict.status === 'invalid') return signatureFailed(db, link.intent.id);
  if (verdict.status === 'not_deployed' && !deploys) {
    return refuse('wallet_not_deployed', NOT_AT_TILLS, 'from');
  }
  const { walletFactories } = link.chain.config;
  return refusalOf(verdict, NOT_SIGNED, walletFactories);
}

const NOT_AT_TILLS =
  'This wallet is a contract that has not been deployed yet, and a tap at a till cannot ' +
  'deploy it. Scan the code on the till with the wallet, or pay with another one. Nothing ' +
  'was charged.';

/**
 * Returns the signature's fields that the settlement contract expects, with the fee rates of the
 * terms.
 */
export function signedOf({ bindsOrder }: PayLink, verified: VerifiedAuthorization) {
  const { terms, signature } = verified;
  const { salt, valid_before: validBefore } = terms;
  const hides = bindsOrder ? {} : ({ bindsOrder: false } as const);
  const authorization = { salt, ...hides, validBefore: String(validBefore), signature };
  return { authorization, rates: ratesOf(terms) };
}

/**
 * Returns the reason why the chain would refuse this payment now, after the wallet's deployment if
 * it needs one; `null` if it would accept it.
 */
export async function whyUnable(
  preflight: Preflight,
  link: PayLink,
  signed: VerifiedAuthorization & { readonly from: Hex },
): Promise<{ readonly decline: Decline } | Refusal | null> {
  const { intent, number, merchant } = link;
  const { livemode } = tenantOf(intent);
  const { merchantNumber } = merchant;
  if (merchantNumber === null) return null;
  const { deployment } = signed;
  const first = deployment === null ? {} : { deployment };
  const check = await preflight({
    livemode,
    payer: signed.from,
    merchantNumber,
    amount: sumOf(link),
    orderId: intent.order_id,
    signed: { ...signedOf(link, signed), number, ...first },
  });
  if (typeof check === 'string') return notNow(check, livemode);
  return check.ok ? null : { decline: check.decline };
}

/** Counts a signature that did not verify, and refuses it. */
async function signatureFailed(db: Database, intentId: string): Promise<Refusal> {
  if (await countSignatureFailure(db, intentId)) return tooManyFailures();
  return refuse(NOT_SIGNED.code, NOT_SIGNED.message, NOT_SIGNED.param);
}

const NOT_SIGNED = {
  code: 'signature_invalid',
  message:
    'This wallet did not sign this payment. Nothing was charged. Request `typed_data` ' +
    'again and sign it unchanged.',
  param: 'signature',
  walletParam: 'from',
} as const;

function tooManyFailures(): Refusal {
  return {
    ...refuse(
      'rate_limit_exceeded',
      'More than 10 invalid signatures were sent for this link within a minute. Try again in ' +
        'a minute.',
    ),
    headers: { 'Retry-After': '60' },
  };
}
