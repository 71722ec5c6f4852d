import { isRefusal, type Refusal, refuse } from '#core/answer.ts';
import { newId } from '#core/ids.ts';
import { networkOf } from '#core/mode.ts';
import type { Tx } from '#db/database.ts';
import type { ProcessContext } from '#db/process-context.ts';
import {
  checkPermit,
  checkPolicy,
  checkTogether,
  type SignedPermit,
  type SignedPolicy,
  type WalletNonces,
} from '#payers/check-approval.ts';
import { lockPayer, type PayerRow } from '#payers/payer-queries.ts';
import { countPendingRequests, payerRequests } from '#payers/request-queries.ts';
import type { Chain } from '#settlement/chain/chain.ts';
import {
  type CheckedSignature,
  type DeployFirst,
  onceDeployed,
} from '#settlement/chain/check/signature-refusals.ts';
import { simulateEnrolment } from '#settlement/chain/check/simulate-signed.ts';
import type { Deployment } from '#settlement/chain/check/verify-signature.ts';
import {
  type RequestKind,
  type RequestPayloads,
  requestOnChain,
} from '#settlement/chain-requests.ts';

/** A payer's signatures: a permit, a policy or both. */
export interface SignedApproval {
  readonly permit: SignedPermit | null;
  readonly policy: SignedPolicy | null;
}

/** Maximum amount per request for a test wallet: 1,000 USDC. */
export const MAX_FAUCET_ATOMS = 1_000_000_000;
export const DEFAULT_FAUCET_ATOMS = 100_000_000;

/** Counts an approval, in the transaction that requests it. */
export type TakeApproval = (
  tx: Tx,
  approval: { readonly id: string; readonly now: Date },
) => Promise<Refusal | null>;

interface ApprovalRequest {
  readonly payer: PayerRow;
  readonly chain: Chain;
  /** The wallet's next nonces, just read from the chain. */
  readonly nonces: WalletNonces;
  readonly approval: SignedApproval;
  readonly now: Date;
}

/** An approval whose signatures are valid, and the wallet's deployment if that comes first. */
type CheckedApproval = SignedApproval & Pick<CheckedSignature, 'deployment'>;

async function checkApproval(request: ApprovalRequest): Promise<CheckedApproval | Refusal> {
  const context = { ...request, payer: request.payer.address };
  const { permit, policy } = request.approval;
  if (permit === null && policy === null) {
    return refuse('parameter_missing', 'Send a permit, a policy, or both.', 'permit');
  }
  const ofPolicy = policy === null ? null : await checkPolicy(policy, context);
  if (isRefusal(ofPolicy)) return ofPolicy;
  const deployment = ofPolicy?.deployment ?? null;
  if (permit === null) return { permit, policy: ofPolicy, deployment };
  const tooLow = policy === null ? null : checkTogether(permit, policy);
  const ofPermit = tooLow ?? (await checkPermit(permit, context));
  if (isRefusal(ofPermit)) return ofPermit;
  return { permit: ofPermit, policy: ofPolicy, deployment: deployment ?? ofPermit.deployment };
}

/**
 * Simulates the approval after its wallet's deployment, and returns the refusal if the chain would
 * reject it.
 */
async function whyRefused(
  { payer, chain, nonces }: ApprovalRequest,
  approval: CheckedApproval,
  deployment: Deployment,
): Promise<Refusal | null> {
  const payload = toPayload(approval, payer, nonces);
  const { status } = await simulateEnrolment(chain, payload, deployment);
  if (status === 'accepted') return null;
  return status === 'unavailable'
    ? refuse('service_unavailable', 'The chain cannot be reached. Nothing was sent. Try again.')
    : refuse(
        'unexpected_state',
        'The chain would reject this even after the wallet is deployed. Nothing was sent. ' +
          'Read GET /approvals and sign again.',
      );
}

function toPayload(
  approval: SignedApproval,
  payer: PayerRow,
  nonces: WalletNonces,
): RequestPayloads['enrolment'] {
  const { permit, policy } = approval;
  return {
    payer: payer.address,
    policy: policy && {
      perPaymentCap: String(policy.per_payment),
      periodCap: String(policy.per_period),
      periodSeconds: String(policy.period_seconds),
      expiry: String(policy.expires_at),
      maxFeeRate: String(policy.max_fee_rate),
      nonce: nonces.policy.toString(),
      deadline: String(policy.deadline),
      signature: policy.signature,
    },
    permit: permit && {
      value: String(permit.value),
      deadline: String(permit.deadline),
      signature: permit.signature,
    },
  };
}

const KIND_NAMES = { enrolment: 'approval', faucet: 'faucet request' } as const;

/** Refuses if the payer has one of this kind in progress, which may still use the same nonce. */
async function leaveRequest<K extends RequestKind & ('enrolment' | 'faucet')>(
  ctx: ProcessContext,
  request: {
    readonly id: string;
    readonly kind: K;
    readonly payer: PayerRow;
    readonly payload: RequestPayloads[K];
    readonly take?: TakeApproval;
    readonly now: Date;
  },
): Promise<string | Refusal> {
  const { id, kind, payer, payload, take, now } = request;
  const { livemode } = payer;
  const result = await ctx.db.transaction<Refusal | null>(async (tx) => {
    await lockPayer(tx, payer.id);
    if ((await countPendingRequests(tx, { payerId: payer.id, kind })) > 0) {
      return refuse(
        'unexpected_state',
        `Your previous ${KIND_NAMES[kind]} is still in progress. Wait for its result.`,
      );
    }
    const tooMany = take === undefined ? null : await take(tx, { id, now });
    if (tooMany !== null) return tooMany;
    await payerRequests.insert(tx, { id, payer_id: payer.id, kind, created: now, updated: now });
    await requestOnChain(tx, { livemode, kind, subjectId: id, payload, now });
    return null;
  });
  if (isRefusal(result)) return result;
  ctx.wakeups.send('chain-requests', networkOf(livemode));
  return id;
}

/**
 * Submits a payer's permit and policy to the chain; the service pays the gas. Deploys the wallet
 * first if it is not deployed. @returns the ID of the request, whose result comes later.
 */
export async function createApproval(
  ctx: ProcessContext,
  request: ApprovalRequest & { readonly deploy: DeployFirst; readonly take: TakeApproval },
): Promise<string | Refusal> {
  const { payer, chain, nonces, take } = request;
  // A deployment takes seconds, in which the signatures may expire.
  const check = () => checkApproval({ ...request, now: ctx.clock.now() });
  const approval = await onceDeployed(await check(), {
    check,
    deploy: (checked, deployment) => {
      const whyUnable = () => whyRefused(request, checked, deployment);
      return request.deploy({ chain, wallet: payer.address, deployment, whyUnable });
    },
  });
  if (isRefusal(approval)) return approval;
  const now = ctx.clock.now();
  const id = newId('approval', now);
  const payload = toPayload(approval, payer, nonces);
  return leaveRequest(ctx, { id, kind: 'enrolment', payer, payload, take, now });
}

export async function askFaucet(
  ctx: ProcessContext,
  request: { readonly payer: PayerRow; readonly amount: number; readonly now: Date },
): Promise<string | Refusal> {
  const { payer, amount, now } = request;
  const id = newId('faucet', now);
  const payload = { to: payer.address, amount: String(amount) };
  return leaveRequest(ctx, { id, kind: 'faucet', payer, payload, now });
}
