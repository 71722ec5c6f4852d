import { decodeFunctionResult, encodeFunctionData } from 'viem';
import { chargesOf, type FeeRates } from '#core/charges.ts';
import type { CallAnswer, Chain } from '#settlement/chain/chain.ts';
import type { CheckResult } from '#settlement/chain/check/check-payment.ts';
import { type Deployment, simulateDeployed } from '#settlement/chain/check/verify-signature.ts';
import { RATES_WORDS, ratesCall, readRates, sameRates } from '#settlement/chain/fees/fee-rates.ts';
import { decodeView, quantity } from '#settlement/chain/rpc/decode-call-answers.ts';
import { RpcUnavailable } from '#settlement/chain/rpc/rpc.ts';
import type { PaymentAuthorization } from '#settlement/chain-requests.ts';
import {
  authorizationNonce,
  type PaymentCall,
  type PaymentReason,
  paymentReason,
  preflightCall,
  readRevert,
  validityOf,
} from '#settlement/contract/contract-calls.ts';
import { lensOf } from '#settlement/contract/lens-address.ts';
import { contractOf } from '#settlement/contract-versions.ts';
import { withCallData } from '#settlement/gas-ceilings.ts';
import { gasOfContract } from '#settlement/network-config.ts';
import { settlementLensAbi } from '../../../../contracts/artifacts/SettlementLens.ts';
import { testUsdcAbi } from '../../../../contracts/artifacts/TestUSDC.ts';

/** A payment signed by its payer, with the rates from which the signed sum was computed. */
export interface AuthorizedPayment {
  readonly payment: PaymentCall;
  readonly authorization: PaymentAuthorization;
  readonly rates: FeeRates;
  /** Set if the wallet must be deployed before the payment. */
  readonly deployment?: Deployment;
}

/** The cost of any transaction. */
const CALL_GAS = 21_000n;
const URGENT = { urgent: true } as const;

/** Reasons for which the contract refuses a payment however it was authorized. */
const IN_THE_WAY: ReadonlySet<PaymentReason> = new Set<PaymentReason>([
  'AlreadySettled',
  'AmountInvalid',
  'OrderIdInvalid',
  'MerchantUnknown',
]);

/**
 * Simulates the payment in the contract and in the token, so that no gas is spent on a payment that
 * either would refuse.
 */
export async function checkAuthorization(
  chain: Chain,
  authorized: AuthorizedPayment,
): Promise<CheckResult> {
  try {
    return await ask(chain, authorized);
  } catch (error) {
    if (error instanceof RpcUnavailable) return { status: 'unavailable' };
    throw error;
  }
}

async function ask(chain: Chain, authorized: AuthorizedPayment): Promise<CheckResult> {
  const { payment, rates, deployment } = authorized;
  const { usdc } = chain.config;
  const { pulled } = chargesOf(payment.amount, rates);
  const settlement = contractOf(chain.config, payment.merchantNumber);
  const lens = lensOf(settlement);
  const pull = pullCall(chain, authorized, pulled);
  const given = gasOfContract(chain.config, settlement);
  const gas = given.pull + given.signature;
  const calls = [
    { to: lens, data: preflightCall([payment]), words: 3 },
    { to: lens, data: ratesCall(), words: RATES_WORDS },
    { to: usdc, data: balanceCall(payment), words: 1 },
    { ...pull, gas: quantity(withCallData(gas + CALL_GAS, pull.data)), words: 0 },
  ];
  const [[judged, charged, balance, pulledNow], pulledThen] = await Promise.all([
    chain.calls(calls, 'latest', URGENT),
    deployment === undefined ? null : simulateDeployed(chain, deployment, { ...pull, gas }),
  ]);
  // The contract is paused, which says nothing about the payment (see network-readiness.ts).
  if (isPaused(judged)) return { status: 'unavailable' };
  const reason = decodeView(judged, (data) => {
    return decodeFunctionResult({ abi: settlementLensAbi, functionName: 'preflight', data });
  }).map(paymentReason)[0];
  if (reason === 'CeilingReached') return { status: 'hour_full' };
  if (reason !== undefined && IN_THE_WAY.has(reason)) {
    return { status: 'declined', reason: 'settlement_failed', refusal: reason };
  }
  if (!sameRates(decodeView(charged, readRates), rates)) {
    return { status: 'declined', reason: 'authorization_refused', ratesDiffer: true };
  }
  if (decodeView(balance, BigInt) < pulled) return declined('insufficient_funds');
  const isPulled = pulledThen ?? pulledNow?.ok === true;
  return isPulled ? { status: 'ok' } : declined('authorization_refused');
}

function declined(reason: (CheckResult & { status: 'declined' })['reason']): CheckResult {
  return { status: 'declined', reason };
}

function balanceCall({ payer }: PaymentCall) {
  return encodeFunctionData({ abi: testUsdcAbi, functionName: 'balanceOf', args: [payer] });
}

/**
 * Encodes the token call that the settlement contract makes for a payment. The token checks
 * blocklist, nonce, time and signature.
 */
function pullCall(chain: Chain, { payment, authorization }: AuthorizedPayment, value: bigint) {
  const settlement = contractOf(chain.config, payment.merchantNumber);
  const { signature } = authorization;
  const [validAfter, validBefore] = validityOf(authorization);
  const nonce = authorizationNonce(payment, authorization);
  const args = [
    payment.payer,
    settlement,
    value,
    validAfter,
    validBefore,
    nonce,
    signature,
  ] as const;
  const functionName = 'receiveWithAuthorization';
  const data = encodeFunctionData({ abi: testUsdcAbi, functionName, args });
  return { from: settlement, to: chain.config.usdc, data };
}

function isPaused(answer: CallAnswer | undefined): boolean {
  if (answer === undefined || answer.ok) return false;
  const revert = readRevert(answer.revertData);
  return revert.kind === 'passing' && revert.error === 'SettlingIsPaused';
}
