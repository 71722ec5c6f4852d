import { encodeFunctionData } from 'viem';
import type { Hex } from '#settlement/chain-requests.ts';
import { spendingPolicy, usdcPermit } from '#settlement/contract/signed-messages.ts';
import type { NetworkConfig } from '#settlement/network-config.ts';
import { walletJson } from '#settlement/typed-data-json.ts';
import { testUsdcAbi } from '../../contracts/artifacts/TestUSDC.ts';

/**
 * Suggested limits in atoms: 100 USDC per payment and 500 per day. The wallet's owner may change
 * them.
 */
const PER_PAYMENT = 100_000_000;
const PER_PERIOD = 500_000_000;
const DAY_S = 86_400;
const POLICY_DAYS = 365;
/** The permit covers this many periods: the daily limit on each day of a month. */
const PERMIT_PERIODS = 30;
/** Time until the signatures expire: enough to read the request before signing. */
const DEADLINE_S = 3_600;

/**
 * Returns the approval transaction, which the wallet must send and pay for itself, if the token
 * does not support permits; `null` if a permit is enough.
 */
export function approvalToSend({ token, usdc, settlement }: NetworkConfig) {
  if (token.hasPermit) return null;
  const args = [settlement, BigInt(PER_PERIOD * PERMIT_PERIODS)] as const;
  const data = encodeFunctionData({ abi: testUsdcAbi, functionName: 'approve', args });
  return { to: usdc, data };
}

/**
 * Returns the messages to sign (permit and policy), and the body of `POST /approvals` without the
 * signatures.
 */
export function approvalToSign(approval: {
  readonly network: NetworkConfig;
  readonly payer: Hex;
  /** `permit` is `null` if the token does not support permits; then only the policy is signed. */
  readonly nonces: { readonly permit: bigint | null; readonly policy: bigint };
  /** All current fees together, in basis points. */
  readonly feeRate: number;
  readonly now: Date;
}) {
  const { network, payer, nonces, feeRate, now } = approval;
  const seconds = Math.floor(now.getTime() / 1000);
  const deadline = seconds + DEADLINE_S;
  const permit = { value: PER_PERIOD * PERMIT_PERIODS, deadline };
  const policy = {
    per_payment: PER_PAYMENT,
    per_period: PER_PERIOD,
    period_seconds: DAY_S,
    expires_at: seconds + POLICY_DAYS * DAY_S,
    max_fee_rate: feeRate,
    deadline,
  };
  const permitOver = (nonce: bigint) =>
    usdcPermit(network, {
      payer,
      value: BigInt(permit.value),
      nonce,
      deadline: BigInt(deadline),
    });
  const signedPolicy = spendingPolicy(network, {
    payer,
    perPayment: BigInt(policy.per_payment),
    perPeriod: BigInt(policy.per_period),
    periodSeconds: policy.period_seconds,
    expiresAt: new Date(policy.expires_at * 1000),
    maxFeeRate: policy.max_fee_rate,
    nonce: nonces.policy,
    deadline: BigInt(deadline),
  });
  return {
    permit:
      nonces.permit === null
        ? null
        : { typed_data: walletJson(permitOver(nonces.permit)), body: permit },
    policy: { typed_data: walletJson(signedPolicy), body: policy },
  };
}
