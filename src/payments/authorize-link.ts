import { createHash } from 'node:crypto';
import { getAddress } from 'viem';
import { type Answer, answerWith, isRefusal, type Refusal } from '#core/answer.ts';
import { present } from '#core/assert.ts';
import { hashSecret } from '#core/bearer-secrets.ts';
import { chargesOf } from '#core/charges.ts';
import { tenantOf } from '#core/mode.ts';
import type { IdempotentRequest } from '#idempotency/request-fingerprint.ts';
import { findReplay } from '#idempotency/run-once-per-key.ts';
import type { ApiContext } from '#payments/api-context.ts';
import { serviceUnavailable } from '#payments/ask-chain-before-locking.ts';
import { answerWhenSettled } from '#payments/await-settlement.ts';
import { countPayment, paymentRefused } from '#payments/count-payment-gas.ts';
import type { SignedBy } from '#payments/credentials/authorization.ts';
import { type Decline, paymentError } from '#payments/decline-codes.ts';
import { deployWallet } from '#payments/deploy-wallet.ts';
import { payIntent } from '#payments/pay.ts';
import { type PayLink, withTip } from '#payments/pay-link.ts';
import { ratesOf, sumOf } from '#payments/pay-message.ts';
import { byAccountClock } from '#payments/payment-intent.ts';
import { renderIntent } from '#payments/render.ts';
import {
  signedOf,
  type VerifiedAuthorization,
  verifyAuthorization,
  whyUnable,
} from '#payments/verify-authorization.ts';
import { notDeployed, onceDeployed } from '#settlement/chain/check/signature-refusals.ts';
import { normalSignature } from '#settlement/chain/check/verify-signature.ts';
import type { Hex } from '#settlement/chain-requests.ts';
import type { GasPolicy } from '#settlement/gas-budget.ts';
import { deleteUnsent } from '#settlement/gas-spending-queries.ts';

export interface Signed {
  readonly from: string;
  readonly signature: Hex;
  /** `chip` for a chip at a till; otherwise a wallet that uses a link. */
  readonly by?: SignedBy;
  /** The customer's tip in atoms; set only if the intent takes tips. */
  readonly tipAmount: number | undefined;
  /** The caller's IP address. An undeployed wallet can be deployed first only if this is set. */
  readonly address?: string;
  readonly requestId: string;
  readonly now: Date;
  readonly gone?: AbortSignal;
}

/**
 * The caller to which idempotency keys of pay links belong, because a link has neither an API key
 * nor a terminal.
 */
const CALLER = 'pay_link';
const PATH = '/api/pay/v1/{token}/authorization';

/**
 * Returns the idempotency data of a request: the same wallet and signature make the same request.
 */
function requestOf(
  webUrl: () => string,
  link: PayLink,
  { from, signature }: { readonly from: Hex; readonly signature: Hex },
): IdempotentRequest {
  const key = createHash('sha256').update(`${link.intent.id} ${from} ${signature}`).digest('hex');
  const tenant = tenantOf(link.intent);
  const sent = { method: 'POST', path: PATH, fingerprint: hashSecret(key), docsUrl: webUrl() };
  return { tenant, caller: CALLER, key, ...sent };
}

/**
 * Pays an intent with a wallet's signature, and returns the intent, like a tap. Checks the
 * signature first, so that a caller without the wallet's key learns nothing and changes nothing.
 * Declines a payment that the chain would refuse. For a static tag, does not store the decline,
 * because anyone with a photo of the tag can create any number of wallets.
 */
export async function authorizeLink(
  ctx: ApiContext,
  current: PayLink,
  request: Signed,
): Promise<Answer | Refusal> {
  const { by: label = 'authorization' } = request;
  const from = getAddress(request.from);
  const link = withTip(current, request.tipAmount);
  if (isRefusal(link)) return link;
  const sameAs = { from, signature: normalSignature(request.signature) };
  const idempotency = requestOf(ctx.pages.webUrl, link, sameAs);
  const replay = await findReplay(ctx.db, idempotency, request.now);
  if (replay !== null) return answerOfFirst(ctx, request, { link, idempotency, replay });
  if (link.closed !== null) return link.closed;
  await link.chain.refreshToken();
  if (link.chain.config.token.domainProblem !== null) return serviceUnavailable();
  const verified = await authorizationOf(ctx, link, { request, from });
  // Reads the clock again, because a deployment takes seconds, in which the intent may have
  // expired.
  const now = ctx.clock.now();
  if (isRefusal(verified) || 'decline' in verified) {
    // The chain also refuses a signature that a concurrent identical request has just used. Returns
    // the response of that request if there is one.
    const first = await findReplay(ctx.db, idempotency, now);
    if (first !== null) return answerOfFirst(ctx, request, { link, idempotency, replay: first });
    return isRefusal(verified) ? verified : declined(link, verified.decline, now);
  }
  const by = await ctx.db.transaction((tx) => countPayment(tx, ctx, link, { from, verified, now }));
  if (isRefusal(by)) {
    const first = await findReplay(ctx.db, idempotency, now);
    return first === null ? by : answerOfFirst(ctx, request, { link, idempotency, replay: first });
  }
  const { payer, counted } = by;
  const answer = await payIntent(ctx, {
    merchant: link.merchant,
    intentId: link.intent.id,
    presented: {
      type: 'authorization',
      signed: { payer, by: label, ...signedOf(link, verified) },
    },
    tip: link.tip,
    idempotency,
    requestId: request.requestId,
    now,
    ...(request.gone === undefined ? {} : { gone: request.gone }),
  });
  if (counted !== null) {
    const isRefused = isRefusal(answer);
    await deleteUnsent(ctx.db, { id: counted, subjectId: link.intent.id, isRefused });
  }
  if (!isUnderWay(answer)) return answer;
  // A concurrent identical request on this node was first. Returns its response.
  const first = await findReplay(ctx.db, idempotency, now);
  return first === null
    ? answer
    : answerOfFirst(ctx, request, { link, idempotency, replay: first });
}

/**
 * Returns the wallet's verified signature, or the reason why the wallet cannot pay now. If allowed,
 * deploys an undeployed wallet first, but only if it can pay afterwards.
 */
async function authorizationOf(
  ctx: ApiContext,
  link: PayLink,
  { request, from }: { readonly request: Signed; readonly from: Hex },
): Promise<VerifiedAuthorization | { readonly decline: Decline } | Refusal> {
  const { signature, address, gone } = request;
  const unable = (signed: VerifiedAuthorization) =>
    whyUnable(ctx.outside.preflight, link, { ...signed, from });
  // Before a wallet is deployed, its payment must be allowed, too.
  const whyNot = async (signed: VerifiedAuthorization) =>
    saleTooSmall(link, ctx.settings.gas) ??
    (await paymentRefused(ctx, link, { from, verified: signed, now: ctx.clock.now() })) ??
    unable(signed);
  // Only requests with an IP address may deploy a wallet. Requests from a till have none.
  const presented = { from, signature, deploys: address !== undefined };
  const check = () => verifyAuthorization(ctx.db, link, presented);
  const verified = await onceDeployed(await check(), {
    check,
    deploy: (signed, deployment) =>
      deployWallet(ctx, {
        ...{ chain: link.chain, wallet: from, deployment, whyUnable: () => whyNot(signed) },
        sale: { intentId: link.intent.id, fees: feesOf(link, signed) },
        ...{ subject: `link ${link.intent.id}`, address: present(address, 'address of a caller') },
        ...(gone === undefined ? {} : { gone }),
      }),
  });
  if (isRefusal(verified) || 'decline' in verified || link.bindsOrder) return verified;
  return (await unable(verified)) ?? verified;
}

/** Returns what a sale brings in, in atoms. */
function feesOf(link: PayLink, { terms }: VerifiedAuthorization): bigint {
  const amount = sumOf(link);
  return chargesOf(amount, ratesOf(terms)).pulled - amount;
}

/** Refuses to deploy a wallet for a sale that brings in less than its deployment may cost. */
function saleTooSmall({ intent }: PayLink, { deployFrom }: GasPolicy): Refusal | null {
  if (intent.amount >= BigInt(deployFrom)) return null;
  return notDeployed(
    `and this network deploys wallets only for sales of at least ${deployFrom} atoms`,
    'from',
  );
}

/** Returns the response to a decline, without storing it. */
function declined({ intent }: PayLink, decline: Decline, now: Date): Answer {
  const lastPaymentError = paymentError(decline, byAccountClock(intent, now));
  return answerWith(200, renderIntent({ ...intent, last_payment_error: lastPaymentError }));
}

function isUnderWay(answer: Answer | Refusal): boolean {
  return isRefusal(answer) && answer.code === 'idempotency_request_in_progress';
}

/**
 * Waits for the response to the first identical request, which may still be running on any node.
 */
async function answerOfFirst(
  ctx: ApiContext,
  { gone }: Signed,
  first: {
    readonly link: PayLink;
    readonly idempotency: IdempotentRequest;
    readonly replay: Answer | Refusal;
  },
): Promise<Answer | Refusal> {
  const { link, idempotency, replay } = first;
  if (!isUnderWay(replay)) return replay;
  const waiting = { intentId: link.intent.id, idempotency };
  return answerWhenSettled(ctx, { ...waiting, ...(gone === undefined ? {} : { gone }) });
}
