import { hashTypedData } from 'viem';
import { isRefusal, type Refusal, refuse } from '#core/answer.ts';
import type { Chain } from '#settlement/chain/chain.ts';
import {
  type CheckedSignature,
  checkSignature,
} from '#settlement/chain/check/signature-refusals.ts';
import type { Hex } from '#settlement/chain-requests.ts';
import { spendingPolicy, usdcPermit } from '#settlement/contract/signed-messages.ts';

export interface SignedPermit {
  /** Atoms. */
  readonly value: number;
  /** Unix seconds. */
  readonly deadline: number;
  readonly signature: Hex;
}

/**
 * A spending policy that stays in force until it expires or is replaced, as the wallet signed it.
 */
export interface SignedPolicy {
  /** Atoms. */
  readonly per_payment: number;
  readonly per_period: number;
  readonly period_seconds: number;
  /** Unix seconds. */
  readonly expires_at: number;
  /** Maximum of the acquirer's and the protocol's fees together, in basis points. */
  readonly max_fee_rate: number;
  /** Unix seconds. */
  readonly deadline: number;
  readonly signature: Hex;
}

export interface WalletNonces {
  readonly policy: bigint;
  /** `null` if the token does not support permits. */
  readonly permit: bigint | null;
}

export interface ApprovalContext {
  readonly chain: Chain;
  readonly payer: Hex;
  readonly nonces: WalletNonces;
  readonly now: Date;
}

/**
 * A deadline must be at least this many seconds away, so that the transaction is mined before it.
 */
const DEADLINE_MARGIN_SECONDS = 30;

function isOver(unixSeconds: number, now: Date): boolean {
  return unixSeconds < now.getTime() / 1000 + DEADLINE_MARGIN_SECONDS;
}

function tooEarly(what: string, verb: string): string {
  return (
    `${what} must ${verb} at least ${DEADLINE_MARGIN_SECONDS} seconds from now, in Unix seconds: ` +
    'a block must be mined before it.'
  );
}

function wrongSignature(param: string) {
  return {
    code: 'parameter_invalid',
    message:
      `${param} was not signed by this wallet for this network, these values and its next nonce: ` +
      'read GET /approvals, and sign the values that it returns.',
    param: `${param}.signature`,
  } as const;
}

/**
 * Checks a signed policy for everything that would make the contract revert, so that no gas is
 * wasted. @returns the policy, with its signature in the format that the contract accepts.
 */
export async function checkPolicy(
  policy: SignedPolicy,
  { chain, payer, nonces, now }: ApprovalContext,
): Promise<(SignedPolicy & CheckedSignature) | Refusal> {
  if (policy.per_period < policy.per_payment) {
    const message = 'per_period must be at least per_payment.';
    return refuse('parameter_invalid', message, 'policy.per_period');
  }
  if (isOver(policy.deadline, now)) {
    return refuse('parameter_invalid', tooEarly('The deadline', 'be'), 'policy.deadline');
  }
  if (isOver(policy.expires_at, now)) {
    return refuse('parameter_invalid', tooEarly('The policy', 'expire'), 'policy.expires_at');
  }
  const typed = spendingPolicy(chain.config, {
    payer,
    perPayment: BigInt(policy.per_payment),
    perPeriod: BigInt(policy.per_period),
    periodSeconds: policy.period_seconds,
    expiresAt: new Date(policy.expires_at * 1000),
    maxFeeRate: policy.max_fee_rate,
    nonce: nonces.policy,
    deadline: BigInt(policy.deadline),
  });
  const { signature } = policy;
  const signed = {
    signer: payer,
    digest: hashTypedData(typed),
    signature,
    by: 'contract',
    simulates: true,
  } as const;
  const checked = await checkSignature(chain, signed, wrongSignature('policy'));
  return isRefusal(checked) ? checked : { ...policy, ...checked };
}

/** Maximum fee rate that the contract allows in a policy, in basis points. */
const HIGHEST_FEE_RATE = 300;

/** Returns the largest charge that a policy allows, fees included, in atoms. */
function highestCharge({ per_payment, max_fee_rate }: SignedPolicy): bigint {
  const sale = BigInt(per_payment);
  return sale + (sale * BigInt(Math.min(max_fee_rate, HIGHEST_FEE_RATE))) / 10_000n;
}

/**
 * Refuses a permit that is lower than the largest charge under the policy, as the contract would.
 */
export function checkTogether(permit: SignedPermit, policy: SignedPolicy): Refusal | null {
  const least = highestCharge(policy);
  if (BigInt(permit.value) >= least) return null;
  const message = `The permit must cover a payment of per_payment and its fees: ${least} atoms.`;
  return refuse('parameter_invalid', message, 'permit.value');
}

/** Checks a signed permit for everything that would make its transaction revert. */
export async function checkPermit(
  permit: SignedPermit,
  { chain, payer, nonces, now }: ApprovalContext,
): Promise<(SignedPermit & CheckedSignature) | Refusal> {
  if (nonces.permit === null) {
    const message =
      'This token has no permits. Send the transaction `to_send` from GET /approvals instead.';
    return refuse('parameter_invalid', message, 'permit');
  }
  if (isOver(permit.deadline, now)) {
    return refuse('parameter_invalid', tooEarly('The deadline', 'be'), 'permit.deadline');
  }
  const typed = usdcPermit(chain.config, {
    payer,
    value: BigInt(permit.value),
    nonce: nonces.permit,
    deadline: BigInt(permit.deadline),
  });
  const { signature } = permit;
  const how = { by: 'token', simulates: true } as const;
  const signed = { signer: payer, digest: hashTypedData(typed), signature, ...how };
  const checked = await checkSignature(chain, signed, wrongSignature('permit'));
  return isRefusal(checked) ? checked : { ...permit, ...checked };
}
