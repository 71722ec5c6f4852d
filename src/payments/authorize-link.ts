import { createHash } from 'node:crypto';
import { getAddress } from 'viem';
import { type Answer, answerWith, isRefusal, type Refusal } from '#core/answer.ts';
import { hashSecret } from '#core/secrets.ts';
import { findReplay } from '#idempotency/decide.ts';
import type { IdempotentRequest } from '#idempotency/request.ts';
import { createPayer } from '#payers/create-payer.ts';
import type { ApiContext } from '#payments/api-context.ts';
import { answerWhenSettled } from '#payments/await-settlement.ts';
import { notNow, serviceUnavailable } from '#payments/check-on-chain.ts';
import type { SignedBy } from '#payments/credentials/authorization.ts';
import { type Decline, paymentError } from '#payments/decline.ts';
import { deployWallet } from '#payments/deploy-wallet.ts';
import { payIntent } from '#payments/pay.ts';
import { type PayLink, withTip } from '#payments/pay-link.ts';
import { ratesOf, sumOf } from '#payments/pay-message.ts';
import type { Preflight } from '#payments/pay-request.ts';
import { byAccountClock } from '#payments/payment-intent.ts';
import { renderIntent } from '#payments/render.ts';
import { type VerifiedAuthorization, verifyAuthorization } from '#payments/verify-authorization.ts';
import { normalSignature } from '#settlement/chain/verify-signature.ts';
import type { Hex } from '#settlement/requests.ts';

/** A wallet's signature for a payment. */
export interface Signed {
  readonly from: string;
  readonly signature: Hex;
  /** A chip at a till; default: a wallet by a link. */
  readonly by?: SignedBy;
  /** Set only if the intent takes tips. */
  readonly tipAmount: number | undefined;
  /** The caller's IP address, where a wallet may be deployed first; default: nowhere. */
  readonly address?: string;
  readonly requestId: string;
  readonly now: Date;
  readonly gone?: AbortSignal;
}

/**
 * Owner of the idempotency keys of pay links, which belong to neither a merchant nor a terminal.
 */
const CALLER = 'pay_link';
const PATH = '/api/pay/v1/{token}/authorization';

/** Identifies a request: the same signature of the same wallet is the same request. */
function requestOf(
  webUrl: () => string,
  link: PayLink,
  { from, signature }: { readonly from: Hex; readonly signature: Hex },
): IdempotentRequest {
  const key = createHash('sha256').update(`${link.intent.id} ${from} ${signature}`).digest('hex');
  const { tenant } = link.intent;
  const sent = { method: 'POST', path: PATH, fingerprint: hashSecret(key), docsUrl: webUrl() };
  return { tenant, caller: CALLER, key, ...sent };
}

/**
 * Pays an intent with a wallet's signature, and returns the intent, as a tap does. The signature is
 * checked first, so that a caller without the wallet's key learns nothing about the payment and
 * changes nothing. A payment that the chain would refuse is declined. For a static tag, the decline
 * is not stored, because anyone with a photo of the tag can create any number of wallets.
 */
export async function authorizeLink(
  ctx: ApiContext,
  found: PayLink,
  request: Signed,
): Promise<Answer | Refusal> {
  const { now, by = 'authorization' } = request;
  const from = getAddress(request.from);
  const link = withTip(found, request.tipAmount);
  if (isRefusal(link)) return link;
  const sameAs = { from, signature: normalSignature(request.signature) };
  const idempotency = requestOf(ctx.pages.webUrl, link, sameAs);
  const replay = await findReplay(ctx.db, idempotency, now);
  if (replay !== null) return answerOfFirst(ctx, request, { link, idempotency, replay });
  if (link.closed !== null) return link.closed;
  await link.chain.refreshToken();
  if (link.chain.config.token.domainProblem !== null) return serviceUnavailable();
  const verified = await verifyDeployed(ctx, link, request);
  if (isRefusal(verified)) return verified;
  const { livemode } = link.intent.tenant;
  const unable = link.bindsOrder
    ? null
    : await whyUnable(ctx.outside.preflight, link, { from, ...verified });
  if (unable !== null) {
    // A concurrent identical request may have used this signature, so the chain refuses it now.
    // Then return the response of that request.
    const first = await findReplay(ctx.db, idempotency, now);
    if (first !== null) return answerOfFirst(ctx, request, { link, idempotency, replay: first });
    return isRefusal(unable) ? unable : declined(link, unable.decline, now);
  }
  const payer = await ctx.db.transaction((tx) => createPayer(tx, { livemode, address: from, now }));
  const answer = await payIntent(ctx, {
    merchant: link.merchant,
    intentId: link.intent.id,
    presented: {
      type: 'authorization',
      signed: { payer, by, ...signedOf(link, verified) },
    },
    tip: link.tip,
    idempotency,
    requestId: request.requestId,
    now,
    ...(request.gone === undefined ? {} : { gone: request.gone }),
  });
  if (!isUnderWay(answer)) return answer;
  // A concurrent identical request on this node was decided first. Return its response.
  const first = await findReplay(ctx.db, idempotency, now);
  return first === null
    ? answer
    : answerOfFirst(ctx, request, { link, idempotency, replay: first });
}

/** Verifies the signature, and deploys the wallet before if that is needed and allowed. */
async function verifyDeployed(
  ctx: ApiContext,
  link: PayLink,
  request: Signed,
): Promise<VerifiedAuthorization | Refusal> {
  const asked = { from: getAddress(request.from), signature: request.signature };
  const first = await verifyAuthorization(ctx.db, link, asked);
  if (isRefusal(first) || !('deployment' in first)) return first;
  const { address = null, now, gone } = request;
  const wanted = { from: asked.from, deployment: first.deployment, address, now };
  const refused = await deployWallet(ctx, link, { ...wanted, ...(gone ? { gone } : {}) });
  if (refused !== null) return refused;
  const second = await verifyAuthorization(ctx.db, link, asked);
  // A node that lags does not know the wallet yet.
  return !isRefusal(second) && 'deployment' in second ? serviceUnavailable() : second;
}

function signedOf({ bindsOrder }: PayLink, { terms, signature }: VerifiedAuthorization) {
  const { salt, valid_before: validBefore } = terms;
  const hides = bindsOrder ? {} : ({ bindsOrder: false } as const);
  const authorization = { salt, ...hides, validBefore: String(validBefore), signature };
  return { authorization, rates: ratesOf(terms) };
}

/**
 * Returns the reason why the chain would refuse this wallet's payment now; `null` if it would
 * accept it.
 */
async function whyUnable(
  preflight: Preflight,
  link: PayLink,
  signed: VerifiedAuthorization & { readonly from: Hex },
): Promise<{ readonly decline: Decline } | Refusal | null> {
  const { intent, number, merchant } = link;
  const { livemode } = intent.tenant;
  const { merchantNumber } = merchant;
  if (merchantNumber === null) return null;
  const asked = await preflight({
    livemode,
    payer: signed.from,
    merchantNumber,
    amount: sumOf(link),
    orderId: intent.orderId,
    signed: { ...signedOf(link, signed), number },
  });
  if (typeof asked === 'string') return notNow(asked, livemode);
  return asked.ok ? null : { decline: asked.decline };
}

/** Returns the same response as for a decline, with an unchanged intent. */
function declined({ intent }: PayLink, decline: Decline, now: Date): Answer {
  const lastPaymentError = paymentError(decline, byAccountClock(intent, now));
  return answerWith(200, renderIntent({ ...intent, lastPaymentError }));
}

function isUnderWay(answer: Answer | Refusal): boolean {
  return isRefusal(answer) && answer.code === 'idempotency_request_in_progress';
}

/**
 * Waits for the response to the first request, which may still be running here or on another node.
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
