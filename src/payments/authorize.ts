import { createHash } from 'node:crypto';
import { getAddress } from 'viem';
import { type Answer, isRefusal, type Refusal } from '#core/answer.ts';
import { hashSecret } from '#core/secrets.ts';
import type { IdempotentRequest } from '#idempotency/request.ts';
import { findReplay } from '#idempotency/run-once.ts';
import { createPayer } from '#payers/create-payer.ts';
import { type AwaitDeps, answerWhenSettled } from '#payments/await-settlement.ts';
import type { PayIntent } from '#payments/pay.ts';
import {
  findPayLink,
  type PayLink,
  type PayLinkDeps,
  payLinkMissing,
  withTip,
} from '#payments/pay-link.ts';
import { verifyAuthorization } from '#payments/verify-authorization.ts';
import { normalSignature } from '#settlement/chain/verify-signature.ts';
import type { Hex } from '#settlement/requests.ts';

export interface AuthorizeDeps extends PayLinkDeps, AwaitDeps {
  readonly payIntent: PayIntent;
}

/** What a wallet sends to a pay link. */
export interface Authorization {
  readonly token: string;
  readonly from: string;
  readonly signature: Hex;
  /** Where tips are asked for. */
  readonly tipAmount: number | undefined;
  readonly requestId: string;
  readonly now: Date;
  readonly gone?: AbortSignal;
}

/** The owner of these idempotency keys: no merchant and no terminal. */
const CALLER = 'pay_link';
const PATH = '/api/pay/v1/{token}/authorization';

/** The same wallet with the same signature is the same request. */
function requestOf(link: PayLink, from: Hex, signature: Hex): IdempotentRequest {
  const key = createHash('sha256').update(`${link.intent.id} ${from} ${signature}`).digest('hex');
  const { tenant } = link.intent;
  return { tenant, caller: CALLER, key, method: 'POST', path: PATH, fingerprint: hashSecret(key) };
}

/**
 * Pays an intent with what a wallet has signed for it. Answers with the intent, as a tap does. The
 * signature is checked first: a caller without the wallet's key learns nothing about the payment
 * and cannot make anything happen.
 */
export async function authorizePayment(
  deps: AuthorizeDeps,
  request: Authorization,
): Promise<Answer | Refusal> {
  const { now } = request;
  const from = getAddress(request.from);
  const found = await findPayLink(deps, { token: request.token, address: from });
  if (found === null) return payLinkMissing();
  const link = withTip(found, request.tipAmount);
  if (isRefusal(link)) return link;
  const signature = normalSignature(request.signature);
  const idempotency = requestOf(link, from, signature);
  const replay = await findReplay(deps.db, idempotency, now);
  if (replay !== null) return answerOfFirst(deps, request, { link, idempotency, replay });
  if (link.closed !== null) return link.closed;
  const terms = await verifyAuthorization(deps.db, link, { from, signature });
  if (isRefusal(terms)) return terms;
  const { livemode } = link.intent.tenant;
  const payer = await deps.db.transaction((tx) =>
    createPayer(tx, { livemode, address: from, now }),
  );
  const { salt, valid_before: validBefore, ...rates } = terms;
  const authorization = { salt, validBefore: String(validBefore), signature };
  const answer = await deps.payIntent({
    standing: link.standing,
    intentId: link.intent.id,
    presented: { type: 'authorization', signed: { payer, authorization, rates } },
    tip: link.tip,
    idempotency,
    requestId: request.requestId,
    now,
    ...(request.gone === undefined ? {} : { gone: request.gone }),
  });
  if (!isUnderWay(answer)) return answer;
  // The same request came to this node at the same time, and was decided first.
  const first = await findReplay(deps.db, idempotency, now);
  return first === null
    ? answer
    : answerOfFirst(deps, request, { link, idempotency, replay: first });
}

function isUnderWay(answer: Answer | Refusal): boolean {
  return isRefusal(answer) && answer.code === 'idempotency_request_in_progress';
}

/** The first request may still be under way, here or on another node: its answer is this one's. */
async function answerOfFirst(
  deps: AuthorizeDeps,
  { gone }: Authorization,
  first: {
    readonly link: PayLink;
    readonly idempotency: IdempotentRequest;
    readonly replay: Answer | Refusal;
  },
): Promise<Answer | Refusal> {
  const { link, idempotency, replay } = first;
  if (!isUnderWay(replay)) return replay;
  const waiting = { intentId: link.intent.id, idempotency };
  return answerWhenSettled(deps, { ...waiting, ...(gone === undefined ? {} : { gone }) });
}
